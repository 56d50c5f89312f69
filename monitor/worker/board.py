"""Memory shared between a worker's parent and its children: who is busy, with what, since when.

Made before the fork. Each child writes its own slot; nobody locks, so a killed child blocks nobody.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass
from time import monotonic

SLOTS = 64

# When a wake-up was sent that no child has begun yet (monotonic; 0: none is on its way).
_WAKE = struct.Struct("=d")
_SLOTS_AT = 1 + _WAKE.size
# pid, is it draining, message id (0: none), since when (monotonic), the time limit of that handler
# or statement (0: none), fence and seconds of its lease (0: none)
_SLOT = struct.Struct("=iiqddqd")
_NOTHING = (0, 0.0, 0, 0.0)
_EMPTY = (0, 0, 0, 0.0, 0.0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one child does now."""

    index: int
    pid: int
    is_draining: bool
    message_id: int
    since: float
    limit_seconds: float
    fence: int
    lease_seconds: float

    def overdue_seconds(self) -> float:
        """How long its handler or statement is past its limit; 0 or less: it is not."""
        if not self.limit_seconds:
            return 0.0
        return monotonic() - self.since - self.limit_seconds


class Board:
    """A page of slots and one flag: the worker is stopping."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLOTS_AT + SLOTS * _SLOT.size)

    def stop(self) -> None:
        """Tell every child to end its drain after the batch it is in."""
        self._memory[0] = 1

    def is_stopping(self) -> bool:
        """Whether the worker is stopping."""
        return self._memory[0] == 1

    def sends_wake_up(self) -> None:
        """A wake-up is on its way to some child."""
        _WAKE.pack_into(self._memory, 1, monotonic())

    def awaits_wake_up(self, seconds: float) -> bool:
        """Whether a wake-up sent in the last so many seconds has not begun yet.

        What became ready meanwhile will be found by it; an older one may be lost.
        """
        sent_at: float = _WAKE.unpack_from(self._memory, 1)[0]
        return sent_at > 0 and monotonic() - sent_at < seconds

    def drains(self, index: int) -> None:
        """The child of this index drains now, and sees all that was committed until now."""
        _WAKE.pack_into(self._memory, 1, 0.0)
        self._write(index, True, _NOTHING)

    def idles(self, index: int) -> None:
        """The child of this index has nothing to do."""
        self._write(index, False, _NOTHING)

    def runs(
        self, index: int, message_id: int, limit: float, fence: int = 0, lease: float = 0.0
    ) -> None:
        """The child of this index runs that message (0: none), under a lease (fence 0: none)."""
        self._write(index, True, (message_id, limit, fence, lease))

    def entries(self) -> list[Entry]:
        """Every slot that was ever written; a killed child's stays until its successor writes."""
        found = [
            Entry(index, *_SLOT.unpack_from(self._memory, _SLOTS_AT + index * _SLOT.size))
            for index in range(SLOTS)
        ]
        return [entry for entry in found if entry.pid]

    def clear(self, index: int) -> None:
        """Forget a child that is gone."""
        _SLOT.pack_into(self._memory, _SLOTS_AT + index * _SLOT.size, *_EMPTY)

    def _write(self, index: int, is_draining: bool, work: tuple[int, float, int, float]) -> None:
        message_id, limit, fence, lease = work
        offset = _SLOTS_AT + (index % SLOTS) * _SLOT.size
        values = (os.getpid(), is_draining, message_id, monotonic(), limit, fence, lease)
        _SLOT.pack_into(self._memory, offset, *values)


BOARD = Board()
