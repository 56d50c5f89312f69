"""A request that is not let in: its status, its reason for the counters, its words."""

from __future__ import annotations

from enum import StrEnum

from monitor.domain.errors import ComboioError


class Reason(StrEnum):
    """Why a request was refused: the label of the counter, so a fixed list."""

    UNKNOWN_SOURCE = "unknown_source"
    NOT_CONFIGURED = "not_configured"
    UNAUTHENTICATED = "unauthenticated"
    BAD_SIGNATURE = "bad_signature"
    STALE = "stale"
    TOO_LARGE = "too_large"
    MEDIA_TYPE = "media_type"
    ENCODING = "encoding"
    NO_KEY = "no_key"
    MALFORMED = "malformed"
    NOT_DURABLE = "not_durable"


STATUS = {
    Reason.UNKNOWN_SOURCE: 404,
    Reason.NOT_CONFIGURED: 503,
    Reason.UNAUTHENTICATED: 401,
    Reason.BAD_SIGNATURE: 401,
    Reason.STALE: 401,
    Reason.TOO_LARGE: 413,
    Reason.MEDIA_TYPE: 415,
    Reason.ENCODING: 415,
    Reason.NO_KEY: 400,
    Reason.MALFORMED: 400,
    Reason.NOT_DURABLE: 503,
}


class Refusal(ComboioError):  # noqa: N818 - an answer to the sender, not a fault
    """Raised where a request cannot be let in; the text goes to its sender."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return STATUS[self.reason]
