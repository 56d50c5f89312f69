"""Renews the leases of a worker's children from its parent: a busy handler cannot starve it.

A handler that holds the interpreter's lock starves every thread of its own process, so the parent,
which runs no handler, does it. A parent that is frozen with its children renews nothing.
"""

from __future__ import annotations

from collections import Counter
from threading import Event
from time import monotonic

import psycopg

from monitor.engine import telemetry
from monitor.engine.steadiness import WATCH
from monitor.store import connections, leases, rollup
from monitor.worker.board import Board

_LOOK_SECONDS = 0.2
_WATCH_SECONDS = 1.0
_SHARE = 3.0  # a lease is renewed each third of its time


class Renewal:
    """Prolongs what the board shows, until told to stop."""

    def __init__(self, board: Board, stop: Event) -> None:
        self._board = board
        self._stop = stop
        self._renewed_at: dict[int, float] = {}
        self._watched_at = 0.0

    def run(self) -> None:
        """Until stopped. A database that is away costs the leases that run out meanwhile."""
        while not self._stop.is_set():
            try:
                with connections.connect(autocommit=True, application_name="comboio leases") as own:
                    while not self._stop.wait(_LOOK_SECONDS):
                        self.renew_due(own)
                        self._watch_clock(own)
            except psycopg.Error as error:
                telemetry.engine_event("leases not renewed", error_class=type(error).__qualname__)
                self._stop.wait(_LOOK_SECONDS)

    def renew_due(self, own: connections.Connection) -> int:
        """Renew every lease that is a third old; how many are still held."""
        held = {e.fence: e for e in self._board.entries() if e.fence}
        self._renewed_at = {
            fence: self._renewed_at.get(fence, entry.since) for fence, entry in held.items()
        }
        now = monotonic()
        due = [
            (fence, entry.lease_seconds)
            for fence, entry in held.items()
            if now - self._renewed_at[fence] >= entry.lease_seconds / _SHARE
        ]
        if not due:
            return 0
        # Without an answer for so long, a fresh connection renews them before they run out.
        patience = min(seconds for _, seconds in due) / _SHARE
        with connections.deadline(own, patience), own.transaction():
            cursor = own.cursor()
            renewed = leases.renew(cursor, due)
            per_consumer = Counter(consumer for _, consumer in renewed)
            rollup.add(
                cursor, [(c, "leases", "renewed", float(n)) for c, n in per_consumer.items()]
            )
        self._renewed_at |= {fence: now for fence, _ in due}
        return len(renewed)

    def _watch_clock(self, own: connections.Connection) -> None:
        """For the children: they can vouch for as long as this process has watched."""
        if monotonic() - self._watched_at < _WATCH_SECONDS:
            return
        self._watched_at = monotonic()
        with connections.deadline(own, _WATCH_SECONDS):
            WATCH.look(own.cursor())
