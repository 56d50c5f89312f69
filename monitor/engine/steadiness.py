"""How long the database's clock has run evenly, as far as the processes of this family saw.

The clock of the database can be put forward: five seconds since a call may then be none. What must
not happen before real time is over (a second call to a provider that said "not done") asks here,
too: the clock is compared with the one that counts up since the start of this machine and that
nobody can move. Who began to look only now can vouch for nothing yet.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from time import monotonic
from zlib import crc32

from monitor.store import wall_clock
from monitor.store.sql import Cursor

# Since when it runs evenly, when it was last read (both monotonic), and what it said. The checksum
# tells a page that another process left half written: then the watch begins anew.
_SAMPLE = struct.Struct("=ddd")
_CHECKSUM = struct.Struct("=I")

_STEP_SECONDS = 0.25
_DRIFT = 0.001  # twice what a clock that is being slewed may gain or lose


class Steadiness:
    """Watches the clock for a process and all that it forks: made before the fork, never locked."""

    def __init__(self, count_up: Callable[[], float] = monotonic) -> None:
        self._count_up = count_up
        self._memory = mmap.mmap(-1, _SAMPLE.size + _CHECKSUM.size)

    def look(self, cursor: Cursor) -> float:
        """Read the clock; the seconds of real time for which it is known to have had no step."""
        return self.see(lambda: wall_clock.read(cursor))

    def advance(self, seconds: float) -> None:
        """As if it had begun so much earlier: for tests in which time passes in the database."""
        since, then, said = _SAMPLE.unpack(self._memory[: _SAMPLE.size])
        self._keep(since - seconds, then, said)

    def see(self, read: Callable[[], float]) -> float:
        """As look, with another way to read the clock."""
        before = self._count_up()
        said = read()
        now = self._count_up()
        since = self._since(before, now, said)
        self._keep(since, now, said)
        return now - since

    def _keep(self, since: float, now: float, said: float) -> None:
        sample = _SAMPLE.pack(since, now, said)
        self._memory[:] = sample + _CHECKSUM.pack(crc32(sample))

    def _since(self, before: float, now: float, said: float) -> float:
        page = self._memory[:]
        sample, checksum = page[: _SAMPLE.size], page[_SAMPLE.size :]
        if checksum != _CHECKSUM.pack(crc32(sample)) or not any(sample):
            return now
        since, then, said_then = _SAMPLE.unpack(sample)
        # Either reading took some time, in which the clock was read at an unknown moment.
        gone, tolerance = now - then, _STEP_SECONDS + (now - before) + _DRIFT * abs(now - then)
        return since if abs(said - said_then - gone) <= tolerance else now


WATCH = Steadiness()
