"""The little world of the fault tests: two consumers, their messages, and what must always hold."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import Group

from monitor.domain.consumer import Consumer
from monitor.domain.message import Receipt
from monitor.domain.retry import Retry
from monitor.engine.hands import ExternalMessage
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run
from tests.waiting import wait_until

KINDS = ("atomic", "external")
LEASE_SECONDS = 30.0
SHORT = (("lease_seconds", 1.0),)  # the policy of a test that waits until a lease is over
SOURCE = "test"
_RETRY = Retry(limit=3, base_seconds=0.01, cap_seconds=0.01)
_STATES = ("ready", "in_doubt", "done", "dead", "discarded")


def consumer(kind: str, **policy: Any) -> AbstractContextManager[Consumer]:
    """The consumer of that kind; its handler writes one row for each run that is committed."""
    values = {"external": kind == "external", "lease_seconds": LEASE_SECONDS, "retry": _RETRY}
    return consuming(handler, name=f"faults.{kind}", source=SOURCE, **{**values, **policy})


def handler(payload: dict[str, Any], message: Any) -> None:
    """Write the effect; fail after it when the payload says so."""
    is_external = isinstance(message, ExternalMessage)
    with message.transaction() if is_external else nullcontext():
        Group.objects.create(name=f"effect/{message.key}/{uuid4().hex}")
        more(payload)
        written()
        if payload.get("fails"):
            raise ValueError("the handler was told to fail")


def more(payload: dict[str, Any]) -> None:
    """What a test wants done beside: a statement of its own, in the handler's transaction."""
    if "sql" in payload:
        one(payload["sql"])


def written() -> None:
    """A place to strike at: the effect is written, its transaction is open."""


def body(key: str, **payload: Any) -> dict[str, Any]:
    """The body of a message, the same whichever way it comes."""
    return {"id": key, **payload}


def deliver(key: str, **payload: Any) -> Receipt:
    """One delivery, stored and committed."""
    ((receipt,),) = send(delivery(key, body(key, **payload), session=f"session of {key}"))
    return receipt


def expire() -> None:
    """Leases run out now, as if their seconds were over."""
    run("UPDATE comboio_lease SET expires_at = clock_timestamp()")


def finish(seconds: float = 20, *, in_time: bool = False) -> None:
    """Work as one worker after the other until nothing waits any more.

    in_time: leases end when their time is over; else nobody waits for those of the dead.
    """
    if not in_time:
        expire()

    def is_finished() -> bool:
        drain_all()
        return not one("SELECT count(*) FROM comboio_ready")

    wait_until(is_finished, seconds, what="an empty queue")


def effects() -> dict[str, int]:
    """How many committed effects each key has."""
    query = (
        "SELECT split_part(name, '/', 2), count(*) FROM auth_group "
        "WHERE name LIKE 'effect/%%' GROUP BY 1"
    )
    return dict(rows(query))


def states() -> dict[str, list[str]]:
    """In which states each accepted message is; anything but one each is a fault."""
    member = " UNION ALL ".join(
        f"SELECT id, '{each}' AS state FROM comboio_{each}" for each in _STATES
    )
    query = (
        "SELECT m.key, array_remove(array_agg(s.state), NULL) FROM comboio_message m "
        f"LEFT JOIN ({member}) s USING (id) GROUP BY m.id"
    )
    return dict(rows(query))


def counted(name: str, label: str = "") -> int:
    """A counter, folded or not."""
    query = (
        "SELECT coalesce(sum(value), 0)::int FROM ("
        "SELECT name, label, value FROM comboio_rollup_delta "
        "UNION ALL SELECT name, label, value FROM comboio_total) c "
        "WHERE name = %(name)s AND label = %(label)s"
    )
    return int(one(query, name=name, label=label))


def assert_once(*keys: str, duplicates: int = 0, attempts: int = 1) -> None:
    """Each message is done, its effect is there once, and every delivery is accounted for."""
    assert effects() == dict.fromkeys(keys, 1)
    assert_settled(*keys, state="done", duplicates=duplicates)
    assert {row[0] for row in rows("SELECT attempts FROM comboio_done")} == {attempts}


def assert_settled(*keys: str, state: str, duplicates: int = 0) -> None:
    """Each message is in that one state, nothing holds its session, all deliveries are counted."""
    assert states() == {key: [state] for key in keys}
    assert one("SELECT count(*) FROM comboio_gate") == 0
    assert one("SELECT count(*) FROM comboio_lease") == 0
    assert one("SELECT coalesce(sum(duplicates), 0) FROM comboio_dedup") == duplicates
    assert (counted("received", "new"), counted("received", "duplicate")) == (len(keys), duplicates)


def redelivered(*keys: str) -> None:
    """The sender was told nothing, so it sends again: known, and counted."""
    for key in keys:
        assert deliver(key).verdict == "duplicate"
