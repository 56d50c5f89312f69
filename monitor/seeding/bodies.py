"""Payloads as producers send them: small JSON mostly, some of it large, some of it no text."""

from __future__ import annotations

from random import Random

JSON = "application/json"
_CURRENCIES = ("EUR", "EUR", "EUR", "USD", "CHF")
_CITIES = ("Lisboa", "Porto", "Évora", "Köln", "Wrocław", "東京", "Zürich", "Łódź")
_ARTICLES = ("TICKET-LX-OP", "SEAT", "BIKE", "MEAL", "LOUNGE", "LUGGAGE", "WIFI")
_LARGE = 0.0005  # of the orders
_LARGE_LINES = (150, 1_500)


def body(kind: str, account: str, number: int, random: Random) -> tuple[str, bytes]:
    """(content type, bytes) of one message of this kind."""
    if kind == "document":
        return _document(number, random)
    return JSON, _TEXTS[kind](account, number, random).encode()


def changed(content_type: str, payload: bytes, number: int) -> bytes:
    """The same payload with another content, as a producer with a fault sends it."""
    if content_type != JSON:
        return payload + b"%d" % number
    return b'%s,"note":"corrected %d"}' % (payload[:-1], number)


def _order(account: str, number: int, random: Random) -> str:
    is_large = random.random() < _LARGE
    count = random.randint(*_LARGE_LINES) if is_large else int(6 ** random.random())
    lines = ",".join(
        f'{{"price_cents":{random.randint(90, 19_900)},"quantity":{1 + at % 3},'
        f'"sku":"{_ARTICLES[(number + at) % 7]}-{at}"}}'
        for at in range(count)
    )
    return (
        f'{{"account":"{account}","currency":"{_CURRENCIES[number % 5]}","lines":[{lines}],'
        f'"order":{number},"ship_to":{{"city":"{_CITIES[number % 8]}","zip":"{number % 99_999}"}}}}'
    )


def _charge(account: str, number: int, random: Random) -> str:
    return (
        f'{{"account":"{account}","amount_cents":{int(500_000 ** random.random()) + 99},'
        f'"currency":"{_CURRENCIES[number % 5]}","reference":"INV-{number}"}}'
    )


def _mail(account: str, number: int, random: Random) -> str:
    return (
        f'{{"account":"{account}","template":"{("receipt", "reminder", "welcome")[number % 3]}",'
        f'"to":"{account}@example.org","variables":{{"amount":"{random.randint(1, 999)}.90",'
        f'"city":"{_CITIES[number % 8]}"}}}}'
    )


def _stock(account: str, number: int, random: Random) -> str:
    return (
        f'{{"account":"{account}","counted":{random.randint(0, 400)},'
        f'"sku":"{_ARTICLES[number % 7]}","warehouse":{1 + number % 3}}}'
    )


def _document(number: int, random: Random) -> tuple[str, bytes]:
    name, head = (("image/png", b"\x89PNG\r\n\x1a\n"), ("application/pdf", b"%PDF-1.7\n"))[
        number % 2
    ]
    return name, head + random.randbytes(int(200 + 8_000 * random.random() ** 4))


_TEXTS = {"order": _order, "charge": _charge, "mail": _mail, "stock": _stock}
