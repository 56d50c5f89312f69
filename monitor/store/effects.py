"""Effects: what was recorded about calls to the outside, and the evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from monitor.store.sql import Cursor, load

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Record:
    """An effect as stored. called_for: seconds since its last call; None: not called."""

    id: int
    message_id: int
    consumer: int
    name: str
    key: str
    kind: str
    request: str
    request_hash: bytes
    state: str
    last_step: str
    calls: int
    result: str | None
    error: str
    conflict: str
    decided_by: str
    settled_at: datetime | None
    version: int
    called_for: float | None
    settle_seconds: float
    is_key_old: bool

    @property
    def is_unknown(self) -> bool:
        """Whether a call went out and nobody knows what became of it."""
        return self.state == "in progress" and self.last_step in ("called", "no answer")

    @property
    def is_open(self) -> bool:
        """Whether it has no outcome yet."""
        return self.state in ("in progress", "in doubt")

    def unsettled_seconds(self, steady_seconds: float) -> float:
        """How long "not done" will still prove nothing; 0.0: it proves that nothing was done.

        steady_seconds: for how long the clock that called_for was read from had no step.
        """
        if self.called_for is None:
            return self.settle_seconds
        # A call from the future or from before the watch began: it is at least as old as the watch.
        is_vouched = 0 <= self.called_for <= steady_seconds
        gone = self.called_for if is_vouched else steady_seconds
        return max(self.settle_seconds - gone, 0.0)


def begin(cursor: Cursor, values: dict[str, Any]) -> None:
    """Record an effect before its first call; nothing when an earlier attempt did."""
    cursor.execute(SQL["begin"], values)


def of_message(cursor: Cursor, message_id: int, name: str) -> Record | None:
    """The effect of a message, locked."""
    cursor.execute(SQL["of_message"], {"message": message_id, "name": name})
    return _record(cursor)


def by_id(cursor: Cursor, effect_id: int) -> Record | None:
    """One effect, locked."""
    cursor.execute(SQL["by_id"], {"id": effect_id})
    return _record(cursor)


def place(cursor: Cursor, effect_id: int) -> tuple[int, int, int] | None:
    """(lane, session, message id) of an effect."""
    cursor.execute(SQL["place"], {"id": effect_id})
    row = cursor.fetchone()
    return None if row is None else (row[0], row[1], row[2])


def call(cursor: Cursor, effect_id: int, window_seconds: float) -> bool:
    """A call goes out now. False: the effect is settled."""
    cursor.execute(SQL["call"], {"id": effect_id, "window": window_seconds})
    return bool(cursor.rowcount == 1)


def step(cursor: Cursor, effect_id: int, step: str, error: str = "") -> bool:
    """Note what was learnt without settling. False: it is settled."""
    cursor.execute(SQL["step"], {"id": effect_id, "step": step, "error": error})
    return bool(cursor.rowcount == 1)


def settle(cursor: Cursor, effect_id: int, values: dict[str, Any]) -> bool:
    """Give an open effect its outcome: state, result, reference, error, step, decided_by."""
    cursor.execute(SQL["settle"], {"id": effect_id, **values})
    return bool(cursor.rowcount == 1)


def reopen(cursor: Cursor, effect_id: int, decided_by: str) -> bool:
    """For certain not done: it may be called again."""
    cursor.execute(SQL["reopen"], {"id": effect_id, "decided_by": decided_by})
    return bool(cursor.rowcount == 1)


def doubt(
    cursor: Cursor, effect_id: int, *, probe_seconds: float | None, conflict: str = ""
) -> bool:
    """Put an effect in doubt; the clock asks after probe_seconds (None: never)."""
    values = {"id": effect_id, "probe_seconds": probe_seconds, "conflict": conflict}
    cursor.execute(SQL["doubt"], values)
    return bool(cursor.rowcount == 1)


def mark_conflict(cursor: Cursor, effect_id: int, conflict: str) -> None:
    """Tell that evidence contradicts the decision."""
    cursor.execute(SQL["mark_conflict"], {"id": effect_id, "conflict": conflict})


def add_evidence(
    cursor: Cursor, effect_id: int, *, source: str, verdict: str, actor: str, detail: dict[str, Any]
) -> None:
    """Keep what was learnt, by whom."""
    cursor.execute(
        SQL["add_evidence"],
        {
            "id": effect_id,
            "source": source,
            "verdict": verdict,
            "actor": actor,
            "detail": json.dumps(detail, default=str),
        },
    )


def unknown(cursor: Cursor, message_id: int) -> int | None:
    """The first effect of a message whose outcome nobody knows."""
    cursor.execute(SQL["unknown"], {"message": message_id})
    row = cursor.fetchone()
    return None if row is None else int(row[0])


def set_aside(cursor: Cursor, values: dict[str, Any]) -> bool:
    """Move a ready message to "in doubt". False: it was not ready; roll back."""
    cursor.execute(SQL["set_aside"], values)
    return bool(cursor.rowcount == 1)


def bring_back(cursor: Cursor, message_id: int) -> bool:
    """Move a message whose effects are all known back to ready. False: it was not in doubt."""
    cursor.execute(SQL["bring_back"], {"message": message_id})
    return bool(cursor.rowcount == 1)


def _record(cursor: Cursor) -> Record | None:
    row = cursor.fetchone()
    if row is None:
        return None
    values: list[Any] = [bytes(v) if isinstance(v, memoryview) else v for v in row]
    return Record(*values)
