"""What a report tells about an effect: values only, shared by the lists and the detail pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.domain.effect import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """What was learnt about an effect. source: call, probe, callback or person (then actor)."""

    at: datetime
    source: str
    verdict: str
    actor: str
    detail: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """A call to the outside. state: in progress, completed, failed or in doubt.

    decided_by: call, probe, callback or a person. conflict: evidence against the decision.
    evidence: the newest. version: what its verbs name.
    """

    id: int
    message_id: int
    consumer_id: int
    consumer: str
    message_key: str
    session_id: int | None
    session: str
    name: str
    key: str
    kind: str
    state: str
    last_step: str
    calls: int
    reference: str
    error: str
    settle_seconds: float
    key_until: datetime | None
    started_at: datetime
    called_at: datetime | None
    settled_at: datetime | None
    probes: int
    probe_at: datetime | None
    decided_by: str
    conflict: str
    escalated_by: str
    version: int
    evidence: EvidenceRow | None

    @property
    def is_in_doubt(self) -> bool:
        """Whether its outcome is unknown and its message waits for it."""
        return self.state == "in doubt"

    @property
    def can_be_asked(self) -> bool:
        """Whether its provider can say what became of it: it must, or somebody asked before."""
        return self.kind == Kind.QUERYABLE or self.probe_at is not None or self.probes > 0

    @property
    def proves_at(self) -> datetime | None:
        """From when on "not found" proves that nothing happened; None: it was never called."""
        if self.called_at is None:
            return None
        return self.called_at + timedelta(seconds=self.settle_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectDetail:
    """An effect with all that was learnt, oldest first. request, result: show to revealers only.

    is_redacted: whether something of request, result or evidence is hidden.
    """

    row: EffectRow
    evidence: tuple[EvidenceRow, ...]
    message_state: str | None
    parked: int
    request: str
    result: str
    is_redacted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The effects of one message that a retry would meet.

    completed: a retry makes no call for them. unknown: called, and nobody knows the outcome.
    without: for certain nothing happened (refused, told not done, or not called yet).
    """

    completed: int = 0
    unknown: int = 0
    without: int = 0
    completed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A message in doubt and the effect that it waits for."""

    message_id: int
    effect_id: int
    effect: str
    at: datetime
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who works on a session of an external consumer. fence: what steal names as seen."""

    message_id: int
    fence: int
    holder: str
    starts: int
    renewals: int
    taken_at: datetime
    expires_at: datetime
    is_live: bool
