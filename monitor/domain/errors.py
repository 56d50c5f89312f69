"""The error tree: one root, one branch for each person who must act."""

from __future__ import annotations


class ComboioError(Exception):
    """Root of all errors that Comboio raises on purpose."""


class ConfigurationError(ComboioError):
    """A setting is missing or wrong: the deployer must change it."""


class RejectedDeliveryError(ComboioError):
    """A delivery cannot be accepted: its sender must change it. The text names the rule."""


class RefusedError(ComboioError):
    """An operator's verb was refused: the row is no longer in the state that was seen."""


class RepeatedClickError(RefusedError):
    """The same click was carried out already: nothing was done a second time."""


class PermissionRefusedError(RefusedError):
    """The actor lacks the permission for this verb."""


class HandlerError(ComboioError):
    """A handler broke a rule of the engine: its author must change it. Permanent, never retried."""


class MarkerError(ComboioError):
    """Finishing a batch did not change exactly its rows; the transaction must roll back."""

    def __init__(self, text: str, message_ids: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.message_ids = message_ids


class EndedTransactionError(HandlerError):
    """A handler committed or rolled back the transaction that it was given."""


class LeaseLostError(ComboioError):
    """The lease of a session ran out or was taken over: nothing more may be done under it."""


class RetryLater(ComboioError):  # noqa: N818 - a control signal raised by handlers, not an error
    """Raised by a handler: try this message again after so many seconds; counts as an attempt."""

    def __init__(self, after_seconds: float, reason: str = "") -> None:
        super().__init__(reason or f"retry after {after_seconds} s")
        self.after_seconds = after_seconds


class DownstreamAway(ComboioError):  # noqa: N818
    """Raised by a handler: what it needs is away, which is not this message's fault.

    No attempt is counted; after five in a row the consumer is throttled to one try at a time.
    """


class WrongSessionError(ComboioError):
    """The consumer's check_session says that the message does not belong to its session."""


class StaleError(ComboioError):
    """A numbered message came behind its number, or after the last one of its session."""


class DeadLetter(ComboioError):  # noqa: N818
    """Raised by a handler: set this message aside at once with this reason, without retries."""


class Skip(ComboioError):  # noqa: N818
    """Raised by a handler: nothing to do; its writes are rolled back and the message is done."""
