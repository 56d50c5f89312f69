"""What a worker holds at this moment, as the database has it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import psycopg

# Of the newest life of each process: pids come round again. Announced messages that are done are
# not held any more. rows: one for each process that holds something.
_HELD = """
SELECT pid,
       ARRAY(SELECT r.id FROM unnest(w.ids) u(id) JOIN comboio_message m ON m.id = u.id
               JOIN comboio_ready r ON r.lane = m.lane AND r.session = m.session AND r.id = m.id),
       ARRAY(SELECT l.message_id FROM comboio_lease l
              WHERE l.slot = w.slot AND l.expires_at > clock_timestamp())
  FROM (SELECT DISTINCT ON (pid) pid, slot, ids FROM comboio_worker
         WHERE pid = ANY(%s) ORDER BY pid, slot DESC) w
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Messages that a worker announced and has not finished, and those it holds a lease for."""

    announced: list[int]
    leased: list[int]

    def __or__(self, other: Held) -> Held:
        """What one of two looks saw."""
        return Held(
            announced=sorted({*self.announced, *other.announced}),
            leased=sorted({*self.leased, *other.leased}),
        )

    def __bool__(self) -> bool:
        return bool(self.messages)

    @property
    def messages(self) -> set[int]:
        """All of them."""
        return {*self.announced, *self.leased}


NOTHING = Held(announced=[], leased=[])


class Look:
    """Looks over a connection of its own, straight to the server; it may be away."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def held(self, pids: list[int]) -> dict[int, Held] | None:
        """What each of these processes holds; those that hold nothing are left out.

        None: nothing is known, the database is away.
        """
        try:
            rows = self._own().execute(_HELD, [pids]).fetchall()
        except psycopg.Error:
            self.close()
            return None
        found = {pid: Held(announced=ids, leased=leased) for pid, ids, leased in rows}
        return {pid: held for pid, held in found.items() if held}

    def close(self) -> None:
        """Close the connection; the next look opens another one."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _own(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._address,
                autocommit=True,
                connect_timeout=2,
                application_name="proof nemesis",
                options="-c statement_timeout=1s -c lock_timeout=500ms",
            )
        return self._connection
