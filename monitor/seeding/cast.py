"""Who appears in a made-up history: consumers with their traffic and the ways they fail."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.domain.consumer import Consumer
from monitor.domain.order import Numbered
from monitor.domain.rendering import render
from monitor.domain.states import DeadReason

PREFIX = "seed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One cause of death. error: its text, with {n} for what differs from message to message."""

    reason: DeadReason
    error_class: str
    error: str
    attempts: int

    @property
    def cause(self) -> str:
        """The name that the engine gives to failures of this class and shape."""
        error = type(self.error_class, (Exception,), {})(self.error.format(n=1))
        return f"{self.reason}: {render(error).cause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A consumer and its traffic.

    weight: its share of the messages. dies: how readily it takes a death that is due. pace: the
    mean of its handler in ms. ready_last: so much of the end of the history is not run yet.
    sessionless: the share of its messages that have none.
    """

    consumer: Consumer
    kind: str  # of its payloads
    origins: tuple[str, ...]
    weight: int
    dies: float
    pace: float
    failures: tuple[Failure, ...]
    ready_last: float = 0.0
    sessionless: float = 0.05


def apply(_payload: object) -> None:
    """Stands for a handler: no code declares these consumers, so none of their messages runs."""
    raise AssertionError


def cast() -> tuple[Actor, ...]:
    """All of them: every kind of policy, one that is held, one whose downstream is away."""
    return (
        Actor(
            consumer=_consumer("orders", "shop", ("order.placed", "order.paid"), numbered=True),
            kind="order",
            origins=("shop-eu", "shop-us", "shop-app"),
            weight=30,
            dies=0.02,
            pace=6.0,
            failures=_failures("OutOfStockError", "DeadlockDetected", "SchemaMismatch", "KeyError"),
            sessionless=0.0,
        ),
        Actor(
            consumer=_consumer("payments", "bank", ("payment.received", "payment.refunded")),
            kind="charge",
            origins=("bank-a", "bank-b"),
            weight=28,
            dies=0.4,
            pace=4.0,
            failures=_failures("AccountClosed", "CurrencyMismatch", "ValueError", "Timeout"),
        ),
        Actor(
            consumer=_consumer("charges", "shop", ("charge.wanted",), external=True),
            kind="charge",
            origins=("shop-eu", "shop-us"),
            weight=12,
            dies=0.04,
            pace=140.0,
            failures=_failures("EffectRefused", "CardDeclined"),
        ),
        Actor(
            consumer=_consumer("mail", "crm", None),
            kind="mail",
            origins=("crm", "shop-app"),
            weight=12,
            dies=0.9,
            pace=35.0,
            failures=_failures(
                "SMTPServerDisconnected", "RecipientRefused", "UnicodeEncodeError", "TemplateError"
            ),
            sessionless=0.5,
        ),
        Actor(
            consumer=_consumer("stock", "warehouse", ("stock.counted", "stock.moved")),
            kind="stock",
            origins=("warehouse-1", "warehouse-2", "warehouse-3"),
            weight=9,
            dies=0.3,
            pace=2.0,
            failures=_failures("NegativeStock", "IntegrityError", "UnitMismatch"),
        ),
        Actor(
            consumer=_consumer("documents", "crm", ("document.scanned",)),
            kind="document",
            origins=("scanner-a", "scanner-b"),
            weight=1,
            dies=0.6,
            pace=260.0,
            failures=_failures("InvalidPayloadError", "MemoryError"),
            sessionless=0.8,
        ),
        Actor(
            consumer=_consumer("search", "shop", ("order.placed",)),
            kind="order",
            origins=("shop-eu", "shop-us", "shop-app"),
            weight=5,
            dies=0.1,
            pace=9.0,
            failures=_failures("IndexClosed"),
            ready_last=0.01,
        ),
        Actor(
            consumer=_consumer("sms", "crm", ("sms.wanted",)),
            kind="mail",
            origins=("crm",),
            weight=3,
            dies=0.5,
            pace=80.0,
            failures=_failures("GatewayAway", "NumberUnknown"),
            ready_last=0.006,
        ),
    )


def _consumer(
    name: str,
    source: str,
    types: tuple[str, ...] | None,
    *,
    numbered: bool = False,
    external: bool = False,
) -> Consumer:
    return Consumer(
        name=f"{PREFIX}{name}",
        source=source,
        types=types,
        handler=apply,
        session="account",
        when_dead="hold" if numbered or external else "skip",
        external=external,
        numbered=Numbered() if numbered else None,
    )


def _failures(*names: str) -> tuple[Failure, ...]:
    return tuple(each for name in names for each in _KNOWN[name])


def _poison(name: str, *texts: str, attempts: int = 5) -> tuple[Failure, ...]:
    return tuple(
        Failure(reason=DeadReason.POISON, error_class=name, error=text, attempts=attempts)
        for text in texts
    )


def _of(reason: DeadReason, name: str, text: str) -> tuple[Failure, ...]:
    return (Failure(reason=reason, error_class=name, error=text, attempts=1),)


_KNOWN: dict[str, tuple[Failure, ...]] = {
    "OutOfStockError": _poison("OutOfStockError", "article {n} has no stock in any warehouse"),
    "DeadlockDetected": _poison("DeadlockDetected", "deadlock detected: process {n} waits"),
    "SchemaMismatch": _of(DeadReason.MALFORMED, "SchemaMismatch", "lines[{n}].sku: text expected"),
    "KeyError": _poison("KeyError", "'customer'", "'lines'", "'currency'"),
    "AccountClosed": _poison("AccountClosed", "account {n} was closed", attempts=1),
    "CurrencyMismatch": _poison(
        "CurrencyMismatch", "EUR expected, USD came ({n})", "EUR expected, CHF came ({n})"
    ),
    "ValueError": _poison(
        "ValueError",
        "amount {n} is not positive",
        "iban of account {n} has a wrong check digit",
        "date {n} is no banking day",
    ),
    "Timeout": _poison("TimeoutError", "ledger did not answer within {n} ms"),
    "EffectRefused": _poison("EffectRefused", "402 card declined ({n})", attempts=1),
    "CardDeclined": _poison("CardDeclined", "insufficient funds on card {n}", attempts=1),
    "SMTPServerDisconnected": _poison(
        "SMTPServerDisconnected", "Connection unexpectedly closed: timed out after {n} s"
    ),
    "RecipientRefused": _poison(
        "SMTPRecipientsRefused", "550 mailbox {n} unavailable", "452 mailbox {n} is full"
    ),
    "UnicodeEncodeError": _poison(
        "UnicodeEncodeError", "'ascii' codec can't encode character at position {n}", attempts=1
    ),
    "TemplateError": _poison("TemplateSyntaxError", "line {n}: 'endif' was expected", attempts=1),
    "NegativeStock": _poison("NegativeStock", "article {n} would fall below zero"),
    "IntegrityError": _poison("IntegrityError", "duplicate key ({n}) in stock_movement"),
    "UnitMismatch": _of(DeadReason.MALFORMED, "UnitMismatch", "article {n} is counted in pieces"),
    "InvalidPayloadError": _of(
        DeadReason.MALFORMED, "InvalidPayloadError", "not valid JSON at byte {n}"
    ),
    "MemoryError": (
        Failure(
            reason=DeadReason.CRASHED_WORKER,
            error_class="CrashedWorker",
            error="its worker was killed while it ran, {n} times",
            attempts=3,
        ),
    ),
    "IndexClosed": _poison("IndexClosed", "index orders-{n} is closed"),
    "GatewayAway": _poison("GatewayAway", "503 from the gateway after {n} ms"),
    "NumberUnknown": _poison("NumberUnknown", "+49 {n} is not a number", attempts=1),
}
