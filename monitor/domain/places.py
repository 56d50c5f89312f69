"""Where a source finds a value: in the body, in a header, in a property, in an attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.parser import ParsedResult

from monitor.domain.errors import ConfigurationError, RejectedDeliveryError

KINDS = ("header", "property", "attribute", "body")
LARGEST_SEQUENCE = 2**63 - 1

# Names that change from one delivery of a message to the next: as a key they would let every
# duplicate pass. Compared in lower case, letters and digits only.
_VOLATILE = frozenset({
    "deliverytag", "redelivered", "xdeath", "xfirstdeathreason", "xfirstdeathqueue",
    "deliverycount", "xdeliverycount", "deliveryattempt", "xdeliveryattempt", "xacquiredcount",
    "approximatereceivecount", "timesdelivered", "retrycount", "xretrycount",
    "receivedat", "receivedtime", "receivetime", "xreceivedtime", "receipthandle",
    "requestid", "xrequestid", "correlationid", "xcorrelationid", "traceparent",
})  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one delivery brings: its parsed body (None when it is no JSON) and its names."""

    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    properties: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A place such as "header:X-Id", "property:message_id", "attribute:subject" or "body:order.id".

    Without a prefix it is in the body too: a JMESPath expression over its JSON.
    """

    text: str
    kind: str
    name: str
    expression: ParsedResult | None = field(default=None, compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that a setting names. Raises ConfigurationError when it names none."""
        kind, colon, name = text.partition(":")
        if colon and kind in KINDS:
            if not name.strip():
                raise ConfigurationError(f"{text!r} names no {kind}.")
            if kind != "body":
                return cls(text, kind, name.lower())
            path = name
        else:
            path = text
        if not path.strip():
            raise ConfigurationError("the place is empty.")
        try:
            return cls(text, "body", path, jmespath.compile(path))
        except JMESPathError as error:
            reason = str(error).splitlines()[0]
            raise ConfigurationError(f"{text!r} is no JMESPath expression: {reason}.") from error

    @property
    def is_volatile(self) -> bool:
        """Whether it names something that differs between two deliveries of one message."""
        names = _NAME.findall(self.name)
        return any(re.sub(r"[^a-z0-9]", "", name.lower()) in _VOLATILE for name in names)

    def look(self, found: Found) -> Any:
        """The value there, or None. Raises RejectedDeliveryError when the path does not fit."""
        if self.expression is not None:
            try:
                return self.expression.search(found.body)
            except (JMESPathError, ArithmeticError, TypeError, ValueError) as error:
                raise RejectedDeliveryError(
                    f"The path {self.text!r} cannot be applied to the body."
                ) from error
        if self.kind == "header":
            return found.headers.get(self.name)
        names = found.properties if self.kind == "property" else found.attributes
        return names.get(self.name)


def text_at(place: Place, found: Found) -> str:
    """The text or whole number at a place as text, byte for byte; "" when there is none."""
    value = place.look(found)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    whole = _whole(value)
    if whole is None:
        raise RejectedDeliveryError(f"The value at {place.text!r} must be text or a whole number.")
    return str(whole)


def sequence_at(place: Place, found: Found) -> int | None:
    """The sequence number at a place, or None when there is none."""
    value = place.look(found)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = int(value) if re.fullmatch("[0-9]{1,19}", value) else None
    whole = _whole(value)
    if whole is None or not 0 <= whole <= LARGEST_SEQUENCE:
        raise RejectedDeliveryError(
            f"The sequence at {place.text!r} must be a whole number from 0 to {LARGEST_SEQUENCE}."
        )
    return whole


def _whole(value: object) -> int | None:
    # 7, 7.0 and 7e0 are one payload (fingerprint), so they must be one key too.
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Decimal) and value.adjusted() < 100 and value == value.to_integral_value():  # noqa: PLR2004
        return int(value)
    return None
