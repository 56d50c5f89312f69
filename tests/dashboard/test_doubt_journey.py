"""A real call without an answer: from the engine through the console to a message that is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from monitor.domain.effect import Call, Effect, Evidence, Told
from tests.charging import charge, charged
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)


class _Provider:
    """Acts, then drops the connection; when it is back, it knows what it did."""

    def __init__(self) -> None:
        self.ledger: list[str] = []
        self.is_away = True

    def call(self, call: Call) -> None:
        self.ledger.append(call.key)
        raise TimeoutError("no answer within 5 s")

    def probe(self, call: Call) -> Evidence:
        if self.is_away:
            return Evidence(told=Told.CANNOT_TELL, detail={"status": 503})
        if call.key in self.ledger:
            return Evidence(told=Told.DONE, result={"charge": "ch_1"}, reference="ch_1")
        return Evidence(told=Told.NOT_DONE)


def test_a_charge_in_doubt_is_settled_from_the_console_and_charged_once(sign_in: SignIn) -> None:
    provider, client = _Provider(), sign_in("operator", "olga")
    text = _reader(lambda path: client.get(path).content.decode())
    effect = Effect(name="charge", call=provider.call, kind="queryable", reconcile=provider.probe)
    with consuming(charge, external=True, lease_seconds=30.0, effects=(effect,)):
        send(delivery("order-1", {"amount_cents": 1250}), delivery("order-2"))
        drain_all()
        number, message = _doubted("order-1")
        assert "the outcome of 1 effect is unknown" in text(f"/messages/{message}/")
        assert "no answer within 5 s" in text(f"/reconcile/{number}/")
        provider.is_away, page = False, f"/reconcile/{number}/"
        values = {"seen": looking.seen(client, page, f"{page}ask/"), "next": page}
        assert client.post(f"{page}ask/", values).status_code == 303
        assert "“charge” happened: settled by olga" in text(page)
        drain_all()
    assert looking.state(message) == "done"
    assert (provider.ledger.count(_key(number)), charged()) == (1, 1)
    assert "no-op: completed at" in text(f"/messages/{message}/")
    assert "Outcome settled" in text(f"/messages/{message}/")
    system = text("/system/")
    assert "+ in doubt 1" in system
    assert "Balanced: every accepted message is in exactly one state." in system


def _reader(get: Callable[[str], str]) -> Callable[[str], str]:
    return lambda path: " ".join(looking.Markup(get(path)).text.split())


def _doubted(key: str) -> tuple[int, int]:
    """The effect and the message of this key, which is in doubt."""
    message = one("SELECT id FROM comboio_message WHERE key = %(key)s", key=key)
    assert looking.state(message) == "in_doubt"
    return one("SELECT id FROM comboio_effect WHERE message_id = %(id)s", id=message), message


def _key(effect_id: int) -> str:
    return str(one("SELECT key FROM comboio_effect WHERE id = %(id)s", id=effect_id))
