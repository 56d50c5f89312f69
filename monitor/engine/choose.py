"""Which of the keys that were read make the next batch: order within, fairness across sessions.

A pure function, so that its rules are tested without a database. It decides only where to look and
what to take; whether a message may run is decided by the rows and the lane locks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_HEADS = 4  # of one session in the first pass, so that many sessions share a batch


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting message of a locked lane. gated: None no gate, True shut, False a retry is due."""

    lane: int
    session: int
    id: int
    gated: bool | None
    attempts: int = 0
    head: int | None = None
    number: int | None = None  # in its session, where its sender numbers them
    next: int | None = None  # the number that the session expects; None: it never ran
    is_ended: bool = False
    gap_before: int | None = None

    @property
    def failed_attempts(self) -> int:
        """How often this message failed already; its session's gate counts for its head only."""
        return self.attempts if self.head == self.id else 0


def choose(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Up to limit messages in the order to run them.

    candidates: per lane in reading order, ids of a session ascending. Of each open session the
    result holds a prefix; a session that is shut at one row is shut for the whole batch. First a
    few heads of every session and an even share per lane, then what is left (so one lone hot
    session still fills its batch).
    """
    shut = {each.session for each in candidates if each.gated}
    waiting = [each for each in candidates if each.session not in shut]
    lanes = len({each.lane for each in waiting})
    if not lanes:
        return []
    share = -(-limit // lanes)
    chosen: list[Candidate] = []
    left: list[Candidate] = []
    of_session: dict[int, int] = {}
    of_lane: dict[int, int] = {}
    for each in waiting:
        taken, used = of_session.get(each.session, 0), of_lane.get(each.lane, 0)
        if taken < _HEADS and used < share:
            of_session[each.session] = taken + 1
            of_lane[each.lane] = used + 1
            chosen.append(each)
        else:
            # From here on the session only goes on in the second pass: its prefix stays whole.
            of_session[each.session] = _HEADS
            left.append(each)
    return (chosen + left)[:limit]


def cursors(candidates: Sequence[Candidate], served: Sequence[Candidate]) -> dict[int, int]:
    """Where the next visit of each lane starts: after the last session served or passed as shut.

    A session that was read but not reached stays ahead of the cursor, and so does the rest of its
    lane: the clock or the limit must not make anyone wait for a whole rotation.
    """
    reached = {each.session for each in served} | {e.session for e in candidates if e.gated}
    after: dict[int, int] = {}
    stopped: set[int] = set()
    for each in candidates:
        if each.session not in reached:
            stopped.add(each.lane)
        elif each.lane not in stopped:
            after[each.lane] = each.session
    return after
