"""The words for where a message is, why it died and what ingest decided."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a message is; membership in exactly one table decides."""

    READY = "ready"
    RUNNING = "running"
    WAITING = "waiting"
    IN_DOUBT = "in_doubt"
    DONE = "done"
    DEAD = "dead"
    DISCARDED = "discarded"


class DeadReason(StrEnum):
    """Why a message was set aside."""

    POISON = "poison"
    MALFORMED = "malformed"
    NO_HANDLER = "no handler"
    STALE = "stale"
    WRONG_SESSION = "wrong session"
    CRASHED_WORKER = "crashed worker"


class Verdict(StrEnum):
    """What ingest decided about one delivery for one consumer."""

    NEW = "new"
    DUPLICATE = "duplicate"
    MISMATCH = "mismatch"
    REFUSED = "refused"


class Cause(StrEnum):
    """Why a duplicate came: the broker said so, the first was not done yet, or it was done."""

    REDELIVERED = "redelivered"
    CONCURRENT = "concurrent"
    REPEATED = "repeated"
    OPERATOR = "operator"


class AlertKind(StrEnum):
    """What a person should know."""

    MISMATCH = "mismatch"
    DEAD_LETTER = "dead letter"
    HELD_SESSION = "held session"
    EFFECT_IN_DOUBT = "effect in doubt"
    CONFLICT = "conflict"
    GAP = "gap"
    THROTTLED_CONSUMER = "throttled consumer"
