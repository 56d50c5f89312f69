"""A timeline also tells what kept a message waiting: holds, a lease, what it waits behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from monitor.reports import messages
from tests import factories, factory_effects, factory_figures
from tests.rows import insert, one

pytestmark = pytest.mark.django_db


def _ago(minutes: float) -> datetime:
    return datetime.now(UTC) - timedelta(minutes=minutes)


def _act(minutes: float, verb: str, kind: str, number: int, detail: str = "{}") -> None:
    insert(
        "comboio_audit",
        at=_ago(minutes),
        actor="anna",
        verb=verb,
        object_kind=kind,
        object_id=number,
        reason=f"{kind} {minutes:g}",
        detail=detail,
    )


def _told(number: int) -> list[str]:
    found = messages.detail(number)
    assert found is not None
    return [f"{each.kind}: {each.text}".rstrip(": ") for each in found.timeline]


def _session(number: int) -> int:
    return int(one("SELECT session FROM comboio_message WHERE id = %(i)s", i=number))


def test_holds_of_its_session_and_its_consumer_are_told_while_it_waited() -> None:
    owner = factories.consumer()
    number = factories.message(owner, received_at=_ago(60))
    for kind, id_ in (("session", _session(number)), ("consumer", owner)):
        _act(90, "hold", kind, id_)
        _act(80, "resume", kind, id_)
        _act(70, "hold", kind, id_)  # it still stood when the message came
        _act(50, "resume", kind, id_)
    _act(40, "skip gap", "session", _session(number))
    _act(30, "hold", "consumer", owner + 1)
    assert _told(number) == [
        "session hold: session 70",
        "consumer hold: consumer 70",
        "received",
        "session resume: session 50",
        "consumer resume: consumer 50",
        "session skip gap: session 40",
    ]


def test_a_hold_that_had_ended_by_itself_is_not_told() -> None:
    owner = factories.consumer()
    number = factories.message(owner, received_at=_ago(10))
    _act(60, "hold", "consumer", owner, f'{{"until": "{_ago(30).isoformat()}"}}')
    assert _told(number) == ["received"]
    _act(50, "hold", "consumer", owner, f'{{"until": "{_ago(-30).isoformat()}"}}')
    assert _told(number) == ["consumer hold: consumer 50", "received"]


def test_what_happened_after_its_end_is_not_told_and_its_own_acts_are_told_once() -> None:
    owner = factories.consumer()
    number = factories.message(owner, state="done", received_at=_ago(60))
    _act(-1, "hold", "session", _session(number))
    dead = factories.message(owner, session="s2", received_at=_ago(60))
    _act(20, "skip head", "session", _session(dead), f'{{"message": {dead}}}')
    factory_figures.event(dead, kind="skip head", actor="anna", detail={"reason": "go on"})
    assert "session hold: session -1" not in _told(number)
    assert _told(dead) == ["received", "skip head: go on"]


def test_each_reveal_is_told() -> None:
    number = factories.message(factories.consumer(), state="done", received_at=_ago(60))
    _act(-1, "reveal", "message", number, '{"how": "shown"}')
    _act(-2, "requeue", "message", number)
    assert [each for each in _told(number) if each.startswith("re")] == [
        "received",
        "reveal: message -1",
    ]


def test_the_lease_under_which_it_runs_is_told() -> None:
    owner = factories.consumer()
    number, other = (factories.message(owner, session=each) for each in ("s1", "s2"))
    fence = factory_effects.lease(number, slot=factory_figures.worker())
    found = messages.detail(number)
    assert found is not None
    (lease,) = [each for each in found.timeline if each.kind == "lease"]
    assert (lease.detail["lease"].fence, lease.detail["lease"].is_live) == (fence, True)
    assert _told(other) == ["received"]


@pytest.mark.parametrize("state", ["dead", "in doubt"])
def test_what_it_waits_behind_is_told_and_since_when(state: str) -> None:
    owner = factories.consumer(when_dead="hold")
    values: dict[str, Any] = {"session": "s1", "received_at": _ago(60)}
    if state == "dead":
        head = factories.message(owner, state="dead", holds=True, **values)
    else:
        head, _effect = factory_effects.in_doubt(owner, **values)
    number = factories.message(owner, session="s1")
    found = messages.detail(number)
    assert found is not None
    (parked,) = [each for each in found.timeline if each.kind == "parked"]
    assert parked.detail == {"message_id": head, "state": state}
    assert parked.at >= found.row.received_at
    assert "parked" not in _told(head)
