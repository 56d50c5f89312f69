"""Identity: the dedup key of a message, the row of its session, the lane that guards it."""

from __future__ import annotations

import re
from hashlib import blake2b
from uuid import UUID

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.order import BANDS, Priority

KEY_BYTES = 512
SESSION_BYTES = 256
TYPE_BYTES = 256
ORIGIN_BYTES = 1024

_LANES = 256  # lanes per consumer
_SECOND_DIGITS = 12
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def dedup_key(origin: str, key: str) -> UUID:
    """The 128-bit name of (origin, key). Texts count byte for byte: never trimmed or folded."""
    return UUID(bytes=_digest(16, origin.encode(), key.encode()))


def session_id(
    consumer_id: int, session: str, salt: int = 0, priority: Priority | None = None
) -> int:
    """The row id of a consumer's session: a positive 63-bit hash. A salt parts two that collide.

    Its last 8 bits are its lane; a priority puts them into the band of lanes that is its own.
    """
    digest = _digest(8, b"%d" % consumer_id, session.encode(), b"%d" % salt)
    number = (int.from_bytes(digest, "big") >> 1) or 1
    if priority is None:
        return number
    first, end = BANDS[priority]
    return number // _LANES * _LANES + first + number % (end - first) or 1


def lane(consumer_id: int, session_id: int) -> int:
    """The lane of a session; a message without session has minus its own id as session_id."""
    return consumer_id * _LANES + abs(session_id) % _LANES


def second_key(key: str, fingerprint: bytes) -> str:
    """The key of a payload that was accepted although another one came first under the same key."""
    return f"{key}~{fingerprint.hex()[:_SECOND_DIGITS]}"


def check_key(text: str) -> None:
    """Raise RejectedDeliveryError, naming the rule, unless the text can be a key."""
    _check("key", text, KEY_BYTES)
    if not text:
        raise RejectedDeliveryError("The key is empty; a key has 1 to 512 bytes.")


def check_session(text: str) -> None:
    """Raise RejectedDeliveryError unless the text can be a session; "" means none."""
    _check("session", text, SESSION_BYTES)


def check_type(text: str) -> None:
    """Raise RejectedDeliveryError unless the text can be a message type; "" means none."""
    _check("type", text, TYPE_BYTES)


def check_origin(text: str) -> None:
    """Raise RejectedDeliveryError unless the text can be an origin."""
    _check("origin", text, ORIGIN_BYTES)
    if not text:
        raise RejectedDeliveryError("The origin is empty; an origin has 1 to 1024 bytes.")


def _check(what: str, text: str, limit: int) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise RejectedDeliveryError(f"The {what} holds a lone surrogate: not Unicode.") from error
    if size > limit:
        raise RejectedDeliveryError(f"The {what} has {size} bytes; at most {limit} are allowed.")
    found = _CONTROL.search(text)
    if found:
        raise RejectedDeliveryError(
            f"The {what} holds the control character U+{ord(found.group()):04X}; none is allowed."
        )


def _digest(size: int, *parts: bytes) -> bytes:
    # Each part is led by its length, so ("a/b", "c") and ("a", "b/c") stay apart.
    hasher = blake2b(digest_size=size)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "big"))
        hasher.update(part)
    return hasher.digest()
