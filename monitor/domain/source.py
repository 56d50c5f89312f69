"""What a source is: a configured entrance, checked when it is made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from monitor.domain.errors import ConfigurationError
from monitor.domain.places import Place
from monitor.domain.strict_json import MAX_DEPTH

MEBIBYTE = 1024 * 1024
DAY_SECONDS = 24 * 60 * 60
LARGEST_BODY_BYTES = 64 * MEBIBYTE

_PLACES = ("session", "type", "sequence", "last", "not_before", "sent_at")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Format = Literal["json", "cloudevents", "github"]
Scheme = Literal["bearer", "github", "standard-webhooks", "hmac"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The name of the environment variable that holds a secret, and when it stops counting."""

    env: str
    until: datetime | None = None

    def __post_init__(self) -> None:
        if not _VARIABLE.fullmatch(self.env):
            raise ConfigurationError(
                f"env = {self.env!r}: the name of an environment variable is needed, not its value."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How a sender proves itself. Any live secret of the list is good, so that it can be rotated.

    header, prefix and encoding are for the scheme "hmac": where the signature stands and how it is
    written. timestamp_header names a header whose seconds are signed as "<timestamp>.<body>".
    """

    scheme: Scheme
    secrets: tuple[Secret, ...]
    header: str = "X-Signature-256"
    prefix: str = ""
    encoding: Literal["hex", "base64"] = "hex"
    timestamp_header: str = ""

    def __post_init__(self) -> None:
        if not 1 <= len(self.secrets) <= 4:  # noqa: PLR2004 - each one costs a hash per request
            raise ConfigurationError("auth.secrets: 1 to 4 secrets are needed.")

    @property
    def signs_the_key(self) -> bool:
        """Whether the key is part of what is signed, so that no one can change it."""
        return self.scheme == "standard-webhooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What every source declares: identity, order, and how long its sender may repeat itself."""

    name: str
    origin: str = ""  # "" stands for the name
    session: str | None = None
    type: str | None = None
    sequence: str | None = None
    last: str | None = None
    not_before: str | None = None
    sent_at: str | None = None
    too_old: Literal["dead", "accept"] = "dead"  # what was sent before anything remembered
    missing_key: Literal["reject", "derive"] = "reject"
    volatile_key: bool = False
    unrouted: Literal["dead", "ignore"] = "dead"
    body_limit_bytes: int = MEBIBYTE
    max_depth: int = MAX_DEPTH
    max_deliveries: int = 10
    redelivery_seconds: int = 3600
    message_ttl_seconds: int = 3 * DAY_SECONDS

    places: ClassVar[tuple[str, ...]] = ()  # the kinds of places that its deliveries have

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"the name {self.name!r}: 1 to 63 of a-z, 0-9, “-”, “_” and “.” are needed."
            )
        _between("body_limit_bytes", self.body_limit_bytes, 1, LARGEST_BODY_BYTES)
        _between("max_depth", self.max_depth, 1, MAX_DEPTH)
        _between("max_deliveries", self.max_deliveries, 1, 10_000)
        _between("redelivery_seconds", self.redelivery_seconds, 0, 365 * DAY_SECONDS)
        _between("message_ttl_seconds", self.message_ttl_seconds, 0, 365 * DAY_SECONDS)
        self._check_places()

    @property
    def redelivery_window_seconds(self) -> int:
        """How long after the first delivery the last repetition may come."""
        return self.max_deliveries * self.redelivery_seconds + self.message_ttl_seconds

    def keys(self) -> tuple[str, ...]:
        """The places of the key, if any are configured."""
        return ()

    def other_places(self) -> dict[str, str]:
        """The places of all else that is configured, by the name of the setting."""
        found = {name: getattr(self, name) for name in _PLACES}
        return {name: text for name, text in found.items() if text is not None}

    def _check_places(self) -> None:
        named = [("key", text) for text in self.keys()]
        for setting, text in (*named, *self.other_places().items()):
            place = _place(setting, text)
            if place.kind not in self.places:
                raise ConfigurationError(
                    f"{setting} = {text!r}: this source has no {place.kind}; "
                    f"it has {', '.join(self.places)}."
                )
            if setting == "key" and place.is_volatile and not self.volatile_key:
                raise ConfigurationError(
                    f"key = {text!r} changes with each delivery, so no duplicate would be found. "
                    "Name what the sender repeats; volatile_key = true takes it all the same."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSource(Source):
    """Messages that come by POST /ingest/<name>."""

    format: Format
    key: tuple[str, ...] = ()  # several places make one key of all their values
    auth: Auth | None = None
    unsigned: bool = False
    tolerance_seconds: int = 300
    future_seconds: int = 300  # a clock ahead is rarer than a late retry: its own, smaller limit
    replay_guard: bool = False

    places: ClassVar[tuple[str, ...]] = ("header", "body", "attribute")

    def __post_init__(self) -> None:
        Source.__post_init__(self)
        _between("tolerance_seconds", self.tolerance_seconds, 1, 365 * DAY_SECONDS)
        _between("future_seconds", self.future_seconds, 0, DAY_SECONDS)
        if self.auth is None and not self.unsigned:
            raise ConfigurationError(
                "auth is missing. Give a scheme with secrets, or say unsigned = true if everyone "
                "who reaches this address may send."
            )
        if self.auth is not None and self.unsigned:
            raise ConfigurationError("unsigned = true and auth exclude each other.")
        self._check_key()

    def keys(self) -> tuple[str, ...]:
        """The places of the key, in the order in which their values make it."""
        return self.key

    def _check_key(self) -> None:
        if self.format == "json" and not self.key and not self._has_default_key:
            raise ConfigurationError('key is missing: where the id stands, such as key = "id".')
        if self.format != "json" and self.key:
            raise ConfigurationError(f"key is fixed by the format {self.format}; leave it out.")
        if self.replay_guard and (self.auth is None or self.auth.scheme == "bearer"):
            raise ConfigurationError("replay_guard needs a scheme that signs the body.")
        if self.replay_guard and self._has_signed_key:
            raise ConfigurationError("replay_guard is not needed: the key is signed already.")

    @property
    def _has_signed_key(self) -> bool:
        is_in_body = bool(self.key) and all(_place("key", k).kind == "body" for k in self.key)
        return is_in_body or (self.auth is not None and self.auth.signs_the_key)

    @property
    def _has_default_key(self) -> bool:
        has_signed_id = self.auth is not None and self.auth.signs_the_key
        return has_signed_id or self.replay_guard or self.missing_key == "derive"


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpSource(Source):
    """Messages that come from a queue of an AMQP 0-9-1 broker such as RabbitMQ."""

    url_env: str  # name of the variable with the broker's address: it holds a password
    queue: str
    key: str = ""  # "": the id of a CloudEvent, else the property message_id
    batch_size: int = 200
    batch_milliseconds: int = 20
    prefetch: int = 1000
    hosted: bool = True  # run by the worker's parent process; false: only by `receive`
    message_ttl_seconds: int = field(default=7 * DAY_SECONDS)

    places: ClassVar[tuple[str, ...]] = ("header", "body", "property")

    def __post_init__(self) -> None:
        Source.__post_init__(self)
        if not _VARIABLE.fullmatch(self.url_env):
            raise ConfigurationError(
                f"url_env = {self.url_env!r}: the name of an environment variable is needed."
            )
        if not self.queue:
            raise ConfigurationError("queue is empty.")
        _between("batch_size", self.batch_size, 1, 10_000)
        _between("batch_milliseconds", self.batch_milliseconds, 0, 10_000)
        _between("prefetch", self.prefetch, self.batch_size, 65_535)

    def keys(self) -> tuple[str, ...]:
        """The place of the key, when it is not the usual one."""
        return (self.key,) if self.key else ()


def _place(setting: str, text: str) -> Place:
    try:
        return Place.parse(text)
    except ConfigurationError as error:
        raise ConfigurationError(f"{setting}: {error}") from error


def _between(setting: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ConfigurationError(f"{setting} = {value}: it must be from {low} to {high}.")
