"""Annotations: what people and deploys did within a time, to be told beside the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from monitor.reports import counters
from monitor.reports.reading import reading
from monitor.store import sql

SQL = sql.load(__file__)

MOST = 20  # annotations that are told; a chart with more says nothing


class AnnotationKind(StrEnum):
    """What happened."""

    DEPLOY = "deploy"
    HOLD = "hold"
    RESUME = "resume"
    HOLD_ENDED = "hold ended"  # by itself, at the time that was set
    REQUEUE = "requeue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One act or deploy. actor "": nobody's act.

    text: the release, or the reason that was given. before: the release before. consumer: its name,
    "" when it is of several. target_id: of the consumer, or of the requeue. count: messages of a
    requeue. until: when a hold ends by itself.
    """

    at: datetime
    kind: AnnotationKind
    actor: str = ""
    text: str = ""
    before: str = ""
    consumer: str = ""
    target_id: int | None = None
    count: int = 0
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """The newest annotations of a time, oldest first; more: earlier ones of it were left out."""

    found: tuple[Annotation, ...]
    more: bool


def since(moment: datetime, *, consumer: int | None = None) -> Annotations:
    """Deploys, holds and requeues of many from that moment on: of all, or of one consumer."""
    values = {"since": moment, "consumer": consumer, "count": MOST + 1}
    with reading() as cursor:
        now = counters.now(cursor)
        cursor.execute(SQL["deploys"], values)
        found = [
            Annotation(at=row[0], kind=AnnotationKind.DEPLOY, text=row[1], before=row[2])
            for row in cursor.fetchall()
        ]
        cursor.execute(SQL["holds"], values)
        for row in cursor.fetchall():
            found += [one for one in _hold(row, now) if one.at >= moment]
        cursor.execute(SQL["requeues"], values)
        found += [
            Annotation(
                at=row[0],
                kind=AnnotationKind.REQUEUE,
                actor=row[1],
                text=row[2],
                target_id=row[3],
                count=row[4],
                consumer=row[5] or "",
            )
            for row in cursor.fetchall()
        ]
    found.sort(key=lambda one: one.at)
    return Annotations(found=tuple(found[-MOST:]), more=len(found) > MOST)


def _hold(row: tuple[Any, ...], now: datetime) -> Iterator[Annotation]:
    """The act, and after a hold that ended by itself also its end, which is nobody's act."""
    at, verb, actor, reason, number, name, until, next_at = row
    yield Annotation(
        at=at,
        kind=AnnotationKind(verb),
        actor=actor,
        text=reason,
        consumer=name,
        target_id=number,
        until=until,
    )
    if verb == "hold" and until is not None and until <= min(next_at or now, now):
        yield Annotation(at=until, kind=AnnotationKind.HOLD_ENDED, consumer=name, target_id=number)
