"""A worker process of a test: it drains inside the test's own process, and can die there.

It dies as kill -9 makes a worker die: every connection is cut before anything else can be written,
nothing is withdrawn, and the next process finds what the dead one announced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, NoReturn
from unittest import mock

from django.db import connection

from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.maintenance import chores
from monitor.store import connections
from monitor.store.sql import load
from monitor.testing.faults import Faults

SQL = load(__file__)

_CHORES = ("release due", "end holds", "reconcile")
_LAST_WORDS_SECONDS = 10.0


class Died(BaseException):
    """The simulated process is dead; no handler of errors in the engine may survive that."""


class Process:
    """One worker after the other: when one has died, the next run is a new one."""

    def __init__(self) -> None:
        self.faults = Faults(self._die)
        self.deaths = 0
        self.starts: Counter[int] = Counter()
        self._opened: list[connections.Connection] = []
        self._backends: set[int] = set()
        self._begun: set[int] = set()
        self._fences: set[int] = set()
        self._is_dead = False

    def run(self, seconds: float) -> int | None:
        """Drain what may run now, at most so long; how many messages moved, None if it died."""
        self._opened, self._backends, self._begun, self._is_dead = [], set(), set(), False
        # Each suspect in a transaction of its own: a test names the message whose worker dies.
        life = Life("test", note=self._note, suspects_at_once=1)
        try:
            with self._watched(), self.faults.installed():
                moved = drain(life, seconds)
                life.end()
        except Died:
            self.deaths += 1
            self._wait_for_the_end()
            return None
        finally:
            self._hang_up()
        return moved

    def tick(self) -> int:
        """Do the clock's chores on which messages wait; how much they did."""
        every: tuple[chores.Chore | chores.LongChore, ...] = (*chores.CHORES, *chores.LONG_CHORES)
        with self.faults.installed():
            return sum(chores.run_once(each) for each in every if each.name in _CHORES)

    def _note(self, message_id: int, _limit: float, fence: int, _lease: float) -> None:
        # Under one lease a handler starts once, however often its limit changes.
        if message_id and fence not in self._fences:
            self.starts[message_id] += 1
            self._begun.add(message_id)
        if message_id and fence:
            self._fences.add(fence)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Every connection passes through us, so that a dead process opens and commits nothing."""
        own: Any = connection
        ensure, commit, connect = own.ensure_connection, own.commit, connections.connect

        def ensure_alive() -> None:
            self._check_alive()
            ensure()

        def commit_unless_ordered_otherwise() -> None:
            self._check_alive()
            self._strike_at_commit()
            commit()

        def connect_and_remember(**options: Any) -> connections.Connection:
            self._check_alive()
            self._opened.append(connect(**options))
            return self._opened[-1]

        with (
            mock.patch.object(own, "ensure_connection", ensure_alive),
            mock.patch.object(own, "commit", commit_unless_ordered_otherwise),
            mock.patch.object(connections, "connect", connect_and_remember),
        ):
            yield

    def _strike_at_commit(self) -> None:
        if not self.faults.awaits_commit():
            return
        cursor = connections.shared_cursor()
        cursor.execute(SQL["about_to_be_done"], {"ids": list(self._begun)})
        done = dict(cursor.fetchall())
        self.faults.at_commit(list(done.values()))
        self._begun.difference_update(done)

    def _check_alive(self) -> None:
        if self._is_dead:
            raise Died

    def _die(self) -> NoReturn:
        self._is_dead = True
        raw = connection.connection
        if raw is not None:
            self._backends.add(raw.info.backend_pid)
            connection.close()
        self._hang_up()
        raise Died

    def _hang_up(self) -> None:
        for each in self._opened:
            if not each.closed:
                self._backends.add(each.info.backend_pid)
            connections.discard(each)

    def _wait_for_the_end(self) -> None:
        """The server rolls a dead client back within moments; until then its locks are held."""
        deadline = monotonic() + _LAST_WORDS_SECONDS
        with connection.cursor() as cursor:
            while monotonic() < deadline:
                cursor.execute(SQL["still_there"], {"pids": list(self._backends)})
                if not cursor.fetchone()[0]:
                    return
                sleep(0.002)
