"""What a broker must offer to be an entrance: a batch in order, and its acknowledgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Protocol

from monitor.domain.errors import ComboioError
from monitor.domain.message import Delivery

_REASON_CHARACTERS = 1000


class SourceAwayError(ComboioError):
    """The broker cannot be reached or refuses us; the receiver waits and tries again."""


class Source(Protocol):
    """One entrance at a broker, used by one thread; open, receive, acknowledge: SourceAwayError.

    What was received and not acknowledged comes again, in its old place, after close().
    """

    @property
    def name(self) -> str:
        """Name of the source, as configured."""

    @property
    def ignores_unrouted(self) -> bool:
        """Whether a message that no consumer takes is only counted."""

    def open(self) -> None:
        """Connect and start to receive."""

    def receive(self) -> Sequence[Delivery]:
        """The next batch in the broker's order; empty when nothing came for about half a second."""

    def acknowledge(self) -> None:
        """Tell the broker that every delivery received so far is stored."""

    def close(self) -> None:
        """Give back what was not acknowledged. Never raises, also when nothing is open."""


def body_key(payload: bytes) -> str:
    """A key for a message without one: equal bodies, byte for byte, have equal keys."""
    return f"body:{blake2b(payload, digest_size=16).hexdigest()}"


def set_aside(delivery: Delivery, reason: str) -> Delivery:
    """The same delivery as a malformed one that can always be stored, keyed by its body.

    What may have broken a rule (key, session, type, sequence, times) is dropped; the body is kept.
    """
    return replace(
        delivery,
        key=body_key(delivery.payload),
        type="",
        session="",
        sequence=None,
        is_last=False,
        not_before=None,
        sent_at=None,
        malformed=reason[:_REASON_CHARACTERS] or "The message cannot be stored.",
    )


def bare(delivery: Delivery) -> Delivery:
    """The same malformed delivery with nothing but its body, for when even the rest is at fault."""
    none: Mapping[str, str] = {}
    return replace(
        delivery,
        content_type="application/octet-stream",
        headers=none,
        correlation_id=None,
        traceparent=None,
    )
