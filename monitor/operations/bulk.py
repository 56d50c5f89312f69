"""Requeues all dead messages of one cause, in short transactions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import psycopg
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from monitor.domain.actor import Actor, Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RefusedError
from monitor.operations.done import Done
from monitor.operations.requeueing import put_back
from monitor.operations.routing import route
from monitor.operations.transaction import BusyError, act
from monitor.store import lanes, requeues
from monitor.store.requeues import Dead

MOST = 10_000  # messages a call may touch
CHUNK = 500  # messages a transaction may touch: some 30 ms in which their lanes stand still
ROUTED_CHUNK = 50  # routed ones are read with their bodies, up to 1 MiB each
BUSY_LOCK_SECONDS = 1.0
BUSY_SECONDS = 10.0  # how long a call waits for busy lanes in all: a person waits for the answer

Lock = Callable[[psycopg.Cursor[Any], Iterable[int]], set[int]]


@dataclass(slots=True)
class _Tally:
    requeued: int = 0
    gone: int = 0
    busy: int = 0
    refused: int = 0
    why: str = ""


def requeue_cause(actor: Actor, cause: str, *, up_to_version: int) -> Done:
    """Requeue the dead messages of a cause that existed at that version, at most 10,000.

    Each part commits by itself, so a failure half way keeps what was done. Returns what was really
    done. Raises RefusedError when none is dead any more, or when nothing at all could be requeued
    for another reason; PermissionRefusedError without “operate”.
    """
    with act(actor, Permission.OPERATE) as cursor:
        seen = requeues.of_cause(cursor, cause, up_to_version=up_to_version, limit=MOST + 1)
    if not seen:
        raise RefusedError(_("No message of this cause is dead any more; reload the page."))
    tally = _Tally()
    taken = seen[:MOST]
    busy = _requeue_free(actor, [each for each in taken if each.consumer != NO_CONSUMER], tally)
    _requeue_busy(actor, busy, tally)
    for part in _chunks([each for each in taken if each.consumer == NO_CONSUMER], ROUTED_CHUNK):
        _route(actor, part, tally)
    text = _sentence(tally, has_more=len(seen) > MOST)
    if not tally.requeued and (tally.busy or tally.refused):
        raise RefusedError(text)
    return Done(verb="requeue", text=text, count=tally.requeued)


def _requeue_free(actor: Actor, seen: Sequence[Dead], tally: _Tally) -> list[Dead]:
    """First round: what is in lanes that nobody holds. Returns the rest."""
    rest: list[Dead] = []
    for part in _chunks(sorted(seen, key=_by_lane), CHUNK):
        rest += _requeue(actor, part, lanes.lock_free, tally)
    return rest


def _requeue_busy(actor: Actor, seen: Sequence[Dead], tally: _Tally) -> None:
    """Second round: lane by lane, waiting a little for the batches that hold them."""
    deadline = time.monotonic() + BUSY_SECONDS
    for _lane, group in groupby(sorted(seen, key=_by_lane), key=lambda each: each.lane):
        for part in _chunks(list(group), CHUNK):
            if time.monotonic() > deadline:
                tally.busy += len(part)
                continue
            try:
                _requeue(actor, part, lanes.lock, tally)
            except BusyError:
                tally.busy += len(part)


def _requeue(actor: Actor, part: Sequence[Dead], lock: Lock, tally: _Tally) -> list[Dead]:
    with act(actor, Permission.OPERATE, lock_seconds=BUSY_LOCK_SECONDS) as cursor:
        held = lock(cursor, [each.lane for each in part])
        mine = [each for each in part if each.lane in held]
        moved = put_back(cursor, actor, mine) if mine else []
    # Counted only here: the transaction has committed.
    tally.requeued += len(moved)
    tally.gone += len(mine) - len(moved)
    return [each for each in part if each.lane not in held]


def _route(actor: Actor, part: Sequence[Dead], tally: _Tally) -> None:
    try:
        with act(actor, Permission.OPERATE) as cursor:
            lanes.lock(cursor, [each.lane for each in part])
            routed = route(cursor, actor, part)
    except BusyError:
        tally.busy += len(part)
        return
    tally.requeued += len(routed.notes)
    tally.refused += len(routed.refusals)
    tally.gone += len(part) - len(routed.notes) - len(routed.refusals)
    tally.why = next(iter(routed.refusals.values()), tally.why)


def _sentence(tally: _Tally, *, has_more: bool) -> str:
    parts = [_("%(count)d requeued") % {"count": tally.requeued}]
    if tally.gone:
        parts.append(
            ngettext("%(count)d was no longer dead", "%(count)d were no longer dead", tally.gone)
            % {"count": tally.gone}
        )
    if tally.busy:
        parts.append(
            ngettext(
                "%(count)d is in a busy session, try again",
                "%(count)d are in busy sessions, try again",
                tally.busy,
            )
            % {"count": tally.busy}
        )
    if tally.refused:
        parts.append(
            ngettext("%(count)d stays dead: %(why)s", "%(count)d stay dead: %(why)s", tally.refused)
            % {"count": tally.refused, "why": tally.why.rstrip(".")}
        )
    if has_more:
        parts.append(_("more are left, requeue again"))
    return ", ".join(parts) + "."


def _by_lane(dead: Dead) -> tuple[int, int]:
    return dead.lane, dead.id


def _chunks(rows: Sequence[Dead], size: int) -> Iterator[Sequence[Dead]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
