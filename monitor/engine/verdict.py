"""The one place where an effect in doubt gets its outcome: by a probe, a callback or a person."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.domain.effect import Evidence, Told
from monitor.domain.states import AlertKind
from monitor.engine import calling
from monitor.engine.steadiness import WATCH
from monitor.store import alerts, effects, events, lanes, rollup
from monitor.store.effects import Record
from monitor.store.sql import Cursor


class Settled(StrEnum):
    """What became of a verdict."""

    SETTLED = "settled"
    AGREES = "agrees"  # the outcome was known, and this says the same
    CONFLICT = "conflict"  # the outcome was known, and this says otherwise: told, not overwritten
    TOO_EARLY = "too early"  # "not done" within the settle time proves nothing
    OPEN = "open"  # still in doubt
    STALE = "stale"  # the effect is no longer as it was seen
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the effect stands after a verdict, and who decided."""

    kind: Settled
    state: str = ""
    decided_by: str = ""
    settled_at: datetime | None = None
    message_id: int = 0


def settle(
    cursor: Cursor,
    effect_id: int,
    evidence: Evidence,
    *,
    source: str,
    actor: str = "",
    seen: int | None = None,
) -> Outcome:
    """Weigh evidence about an effect and act on it; the first decision stands.

    source: "probe", "callback", "person", or "call" for an answer that came late. Wants a
    transaction; locks the lane, then the effect.
    Evidence is kept unless the effect is gone or was not as seen.
    """
    place = effects.place(cursor, effect_id)
    if place is None:
        return Outcome(kind=Settled.GONE)
    lanes.lock(cursor, [place[0]])
    record = effects.by_id(cursor, effect_id)
    if record is None:
        return Outcome(kind=Settled.GONE)
    if seen is not None and record.version != seen:
        return _outcome(cursor, Settled.STALE, effect_id)
    calling.keep(cursor, effect_id, evidence, source=source, actor=actor)
    rollup.add(cursor, [(record.consumer, "reconciled", str(evidence.told), 1.0)])
    kind = _decide(cursor, record, evidence, source, actor or source)
    return _outcome(cursor, kind, effect_id)


def _decide(cursor: Cursor, record: Record, evidence: Evidence, source: str, by: str) -> Settled:
    if evidence.told == Told.CANNOT_TELL:
        return Settled.OPEN
    is_ruling = source == "person" and record.state == "in doubt"  # a person ends a conflict too
    if record.conflict and record.state == "in doubt" and not is_ruling:
        return Settled.CONFLICT  # Told before: the message waits for a person, whoever says what.
    if _contradicts(record, evidence) and not is_ruling:
        return _conflict(cursor, record, evidence, by)
    if not record.is_open:
        return Settled.AGREES
    if evidence.told == Told.NOT_DONE:
        kept_open = _why_not_reopened(cursor, record, source)
        if kept_open is not None:
            return kept_open
        effects.reopen(cursor, record.id, by)
    elif evidence.told == Told.DONE:
        calling.complete(cursor, record, evidence, by=by)
    else:
        why = evidence.detail.get("reason") or evidence.detail.get("error") or "refused"
        calling.fail(cursor, record, str(why), by=by)
    _bring_back(cursor, record, evidence, by)
    return Settled.SETTLED


def _why_not_reopened(cursor: Cursor, record: Record, source: str) -> Settled | None:
    """Why "not done" changes nothing; None: the effect may be called again."""
    if record.last_step == "not done" and record.state == "in progress":
        return Settled.AGREES
    if source != "person" and record.unsettled_seconds(WATCH.look(cursor)):
        return Settled.TOO_EARLY
    return Settled.OPEN if record.state == "in progress" else None  # its own answer will tell


def _contradicts(record: Record, evidence: Evidence) -> bool:
    if record.state == "completed":
        return evidence.told in (Told.NOT_DONE, Told.REFUSED)
    if record.state == "failed":
        return evidence.told == Told.DONE
    # A decision "not done" stands although the effect is open again for the next call.
    was_denied = record.last_step == "not done" and record.decided_by != ""
    return was_denied and evidence.told in (Told.DONE, Told.REFUSED)


def _conflict(cursor: Cursor, record: Record, evidence: Evidence, by: str) -> Settled:
    text = f"{by} says “{evidence.told}”, but {record.decided_by} decided otherwise"
    effects.mark_conflict(cursor, record.id, text)
    _block(cursor, record, text)
    alerts.raise_many(
        cursor,
        [
            alerts.Alert(
                kind=AlertKind.CONFLICT,
                consumer=record.consumer,
                subject=str(record.id),
                title=f"Effect “{record.name}” with key {record.key}: {text}",
                target=record.id,
                cause=record.name,
            )
        ],
    )
    return Settled.CONFLICT


def _block(cursor: Cursor, record: Record, text: str) -> None:
    """An effect that would be called again waits for a person, if its message still waits."""
    place = effects.place(cursor, record.id)
    if record.state != "in progress" or place is None:
        return
    lane, session, message_id = place
    values = {"lane": lane, "session": session, "message": message_id}
    moved = effects.set_aside(
        cursor, {**values, "consumer": record.consumer, "effect": record.id, "attempts": 0}
    )
    if moved:
        effects.doubt(cursor, record.id, probe_seconds=None, conflict=text)


def _bring_back(cursor: Cursor, record: Record, evidence: Evidence, by: str) -> None:
    if record.conflict:
        effects.mark_conflict(cursor, record.id, "")
    detail = {"effect": record.name, "told": str(evidence.told), "by": by}
    events.write_many(cursor, "settled", {record.message_id: detail})
    for kind in (AlertKind.EFFECT_IN_DOUBT, AlertKind.CONFLICT):
        alerts.resolve(cursor, kind, record.consumer, str(record.id))
    if effects.bring_back(cursor, record.message_id):
        lanes.wake(cursor)


def _outcome(cursor: Cursor, kind: Settled, effect_id: int) -> Outcome:
    record = effects.by_id(cursor, effect_id)
    if record is None:
        return Outcome(kind=Settled.GONE)
    return Outcome(
        kind=kind,
        state=record.state,
        decided_by=record.decided_by,
        settled_at=record.settled_at,
        message_id=record.message_id,
    )
