"""One scene for each verb: rows in the state that the verb wants, and the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from monitor.domain.actor import Actor, Permission
from monitor.operations import Done, alerts, consumers, messages, mismatches, sessions, triage
from tests import factories, factory_triage
from tests.rows import one, rows

TABLES = (
    "comboio_message",
    "comboio_dedup",
    "comboio_ready",
    "comboio_gate",
    "comboio_dead",
    "comboio_discarded",
    "comboio_mismatch",
    "comboio_event",
    "comboio_alert",
    "comboio_triage",
    "comboio_audit",
    "comboio_consumer",
    "comboio_rollup_delta",
    "comboio_effect",
    "comboio_evidence",
    "comboio_in_doubt",
    "comboio_lease",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A verb on one object: who may, and what it writes down.

    use(actor) does it as the page showed the object; message: whose timeline tells of it, or None.
    """

    verb: str
    permission: Permission
    target: tuple[str, int]
    use: Callable[[Actor], Done]
    message: int | None = None


def version(table: str, number: int, column: str = "id") -> int:
    """The version of a row, as a page would show it."""
    found = one(f"SELECT version FROM {table} WHERE {column} = %(id)s", id=number)
    return int(found)


def everything() -> dict[str, list[str]]:
    """Every row of every table that a verb may touch, as text."""
    return {
        table: [row[0] for row in rows(f"SELECT t::text FROM {table} t ORDER BY 1")]
        for table in TABLES
    }


def requeue() -> Scene:
    """A dead message that holds its session."""
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    seen = version("comboio_dead", number)
    return Scene(
        verb="requeue",
        permission=Permission.OPERATE,
        target=("message", number),
        use=lambda actor: messages.requeue(actor, number, seen=seen),
        message=number,
    )


def discard() -> Scene:
    """A dead message that holds its session."""
    number = factories.message(factories.consumer(when_dead="hold"), state="dead", holds=True)
    seen = version("comboio_dead", number)
    return Scene(
        verb="discard",
        permission=Permission.DECIDE,
        target=("message", number),
        use=lambda actor: messages.discard(actor, number, seen=seen, note="not needed"),
        message=number,
    )


def restore() -> Scene:
    """A discarded message."""
    number = factories.message(factories.consumer(), state="discarded")
    seen = version("comboio_discarded", number)
    return Scene(
        verb="restore",
        permission=Permission.DECIDE,
        target=("message", number),
        use=lambda actor: messages.restore(actor, number, seen=seen),
        message=number,
    )


def hold_session() -> Scene:
    """A session with a ready message."""
    number = factories.message(factories.consumer())
    session = int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number))
    return Scene(
        verb="hold",
        permission=Permission.OPERATE,
        target=("session", session),
        use=lambda actor: sessions.hold(actor, session, reason="asked to wait"),
    )


def resume_session() -> Scene:
    """A session that bert holds."""
    owner = factories.consumer()
    number = factories.message(owner)
    session = int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number))
    factories.gate(session, held_by="bert")
    factories.alert(owner, kind="held session", subject=str(session), target=session)
    seen = version("comboio_gate", session, "session")
    return Scene(
        verb="resume",
        permission=Permission.OPERATE,
        target=("session", session),
        use=lambda actor: sessions.resume(actor, session, seen=seen),
    )


def hold_consumer() -> Scene:
    """A consumer that runs."""
    number = factories.consumer()
    return Scene(
        verb="hold",
        permission=Permission.OPERATE,
        target=("consumer", number),
        use=lambda actor: consumers.hold(actor, number, reason="downstream is away"),
    )


def resume_consumer() -> Scene:
    """A consumer that bert holds."""
    number = factories.consumer(held_by="bert")
    seen = version("comboio_consumer", number)
    return Scene(
        verb="resume",
        permission=Permission.OPERATE,
        target=("consumer", number),
        use=lambda actor: consumers.resume(actor, number, seen=seen),
    )


def keep_first() -> Scene:
    """A mismatch of a message that is done."""
    first = factories.message(factories.consumer(), state="done")
    number = factories.mismatch(first)
    seen = version("comboio_mismatch", number)
    return Scene(
        verb="keep first",
        permission=Permission.DECIDE,
        target=("mismatch", number),
        use=lambda actor: mismatches.keep_first(actor, number, seen=seen, reason="a typing error"),
        message=first,
    )


def accept_second() -> Scene:
    """A mismatch of a message that is done."""
    first = factories.message(factories.consumer(), state="done")
    number = factories.mismatch(first)
    seen = version("comboio_mismatch", number)
    return Scene(
        verb="accept second",
        permission=Permission.DECIDE,
        target=("mismatch", number),
        use=lambda actor: mismatches.accept_second(actor, number, seen=seen, reason="corrected"),
        message=first,
    )


def acknowledge() -> Scene:
    """An open alert."""
    number = factories.alert(factories.consumer())
    seen = version("comboio_alert", number)
    return Scene(
        verb="acknowledge",
        permission=Permission.OPERATE,
        target=("alert", number),
        use=lambda actor: alerts.acknowledge(actor, number, seen=seen),
    )


def take() -> Scene:
    """A group that somebody wrote a note on."""
    number, row = _group()
    return Scene(
        verb="take",
        permission=Permission.OPERATE,
        target=("triage", row),
        use=partial(_said, triage.take, number, version("comboio_triage", row)),
    )


def give() -> Scene:
    """A group that somebody wrote a note on."""
    number, row = _group()
    return Scene(
        verb="give",
        permission=Permission.OPERATE,
        target=("triage", row),
        use=partial(_said, triage.give, number, version("comboio_triage", row), owner=""),
    )


def write_note() -> Scene:
    """A group that somebody wrote a note on."""
    number, row = _group()
    return Scene(
        verb="note",
        permission=Permission.OPERATE,
        target=("triage", row),
        use=partial(_said, triage.write_note, number, version("comboio_triage", row), note="dns"),
    )


def snooze() -> Scene:
    """A group that somebody wrote a note on."""
    number, row = _group()
    until = datetime.now(UTC) + timedelta(hours=1)
    return Scene(
        verb="snooze",
        permission=Permission.OPERATE,
        target=("triage", row),
        use=partial(_said, triage.snooze, number, version("comboio_triage", row), until=until),
    )


def wake() -> Scene:
    """A group that sleeps."""
    number, row = _group(snoozed_for=1.0)
    return Scene(
        verb="wake",
        permission=Permission.OPERATE,
        target=("triage", row),
        use=partial(_said, triage.wake, number, version("comboio_triage", row)),
    )


def _group(**said: float) -> tuple[int, int]:
    owner = factories.consumer()
    return factory_triage.alert(owner), factory_triage.said(owner, note="seen before", **said)


def _said(verb: Callable[..., Done], number: int, seen: int, actor: Actor, **more: object) -> Done:
    return verb(actor, number, seen=seen, **more)


SCENES = (
    requeue,
    discard,
    restore,
    hold_session,
    resume_session,
    hold_consumer,
    resume_consumer,
    keep_first,
    accept_second,
    acknowledge,
    take,
    give,
    write_note,
    snooze,
    wake,
)
