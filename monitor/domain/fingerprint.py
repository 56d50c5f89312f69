"""The fingerprint of a payload: equal exactly when two deliveries carry the same content."""

from __future__ import annotations

from hashlib import blake2b

import orjson

from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.projection import Fingerprint
from monitor.domain.strict_json import (
    check_depth,
    has_plain_numbers,
    loads_exact,
    parse_json,
    split_number,
    without_strings,
)

__all__ = ["HASH_VERSION", "canonical", "fingerprint", "is_json", "parse_json"]

HASH_VERSION = 1
FINGERPRINT_BYTES = 16

_PLAIN_DIGITS = 15  # integers up to here are written out, as the fast path writes them


def fingerprint(payload: bytes, content_type: str, part: Fingerprint | None = None) -> bytes:
    """16 bytes that name the content: the canonical form of JSON, else the bytes as they are.

    part: which members of the JSON count; None: all. Never raises: a body that claims to be JSON
    and cannot be read as such counts by its bytes.
    """
    if is_json(content_type):
        try:
            return _hash(b"json", canonical(payload) if part is None else _part(payload, part))
        except RejectedDeliveryError:
            pass
    return _hash(b"raw", payload)


def is_json(content_type: str) -> bool:
    """Whether a media type stands for JSON: application/json, text/json or anything/x+json."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type.endswith(("/json", "+json"))


def canonical(payload: bytes) -> bytes:
    """One spelling for each JSON value: members sorted, no spaces, numbers as exact decimals.

    Member order, spaces, string escapes and number spelling (1 = 1.0 = 1e0) do not count; array
    order, types, null or absent, and the Unicode form do. A number is never written out, so
    1e100000 costs no more than its text. Raises RejectedDeliveryError for what parse_json refuses.
    """
    bare = without_strings(payload)
    check_depth(bare)
    try:
        if has_plain_numbers(bare):
            return orjson.dumps(orjson.loads(payload), option=orjson.OPT_SORT_KEYS)
        value = loads_exact(payload, integer=_number, fraction=_number)
        # Strings and order are orjson's on both ways, so equal values give the same bytes.
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise RejectedDeliveryError(f"The body is not JSON: {error}.") from error


def _part(payload: bytes, part: Fingerprint) -> bytes:
    whole = canonical(payload)  # refuses what is no JSON, and is the answer when all of it counts
    value = loads_exact(payload, integer=_number, fraction=_number)
    kept = part.project(value)
    return whole if kept is value else orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)


def _number(text: str) -> orjson.Fragment:
    sign, digits, exponent = split_number(text)
    if not digits:
        return orjson.Fragment(b"0")
    if exponent >= 0 and len(digits) + exponent <= _PLAIN_DIGITS:
        return orjson.Fragment(f"{sign}{digits}{'0' * exponent}")
    return orjson.Fragment(f"{sign}{digits}e{exponent}")


def _hash(kind: bytes, content: bytes) -> bytes:
    return blake2b(content, digest_size=FINGERPRINT_BYTES, person=kind).digest()
