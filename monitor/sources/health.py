"""How a receiver is doing: counted, and told in the log when it changes and once a minute."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from monitor.domain.message import Receipt
from monitor.domain.states import Verdict

_LINE_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Health:
    """Counters of one receiver since it began. Written by its thread, read by anyone."""

    source: str
    state: str = "starting"
    since: float = field(default_factory=time.time)
    batches: int = 0
    messages: int = 0
    new: int = 0
    duplicate: int = 0
    mismatch: int = 0
    interruptions: int = 0
    last_error: str = ""
    _told_at: float = field(default_factory=time.monotonic)
    _told_messages: int = 0

    def became(self, state: str, error: Exception | None = None) -> None:
        """Note a state; a change is told, the same state again is not."""
        if error is not None:
            self.interruptions += 1
            self.last_error = f"{type(error).__name__}: {error}".strip()
        if state == self.state:
            return
        self.state, self.since = state, time.time()
        tell = log.warning if error is not None else log.info
        tell(
            "receiver_state",
            source=self.source,
            state=state,
            error=self.last_error if error else "",
        )

    def stored(self, receipts: Sequence[Sequence[Receipt]]) -> None:
        """Count what a committed batch was."""
        self.batches += 1
        for answers in receipts:
            for each in answers:
                self.new += each.verdict is Verdict.NEW
                self.duplicate += each.verdict is Verdict.DUPLICATE
                self.mismatch += each.verdict is Verdict.MISMATCH

    def acknowledged(self, count: int) -> None:
        """Count messages that the broker may forget."""
        self.messages += count
        self.tell()

    def tell(self) -> None:
        """The health line: once a minute, and only when something came since the last one."""
        now = time.monotonic()
        if now - self._told_at < _LINE_SECONDS or self.messages == self._told_messages:
            return
        self._told_at, self._told_messages = now, self.messages
        log.info(
            "receiver_health",
            source=self.source,
            state=self.state,
            batches=self.batches,
            messages=self.messages,
            new=self.new,
            duplicate=self.duplicate,
            mismatch=self.mismatch,
            interruptions=self.interruptions,
        )
