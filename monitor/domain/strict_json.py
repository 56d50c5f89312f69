"""Reads JSON strictly and exactly: what another reader could take differently is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import accumulate
from math import isfinite
from typing import Any, NoReturn

import orjson

from monitor.domain.errors import RejectedDeliveryError

MAX_DEPTH = 100
NUMBER_CHARACTERS = 4300  # Python refuses longer integers; so a number here can always be printed
EXPONENT_DIGITS = 15  # beyond, Decimal cannot hold the number

# The closing quote is optional and nothing is tried twice (possessive), so any body takes one pass.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
# Outside strings: the numbers that orjson would not keep exactly. "e" alone also stands in "true".
_INEXACT = re.compile(rb"[0-9][.eE]|[0-9]{16}|-0")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)) - set(_STEPS))

Number = Callable[[str], Any]


def parse_json(payload: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text: int, or float where it is exact, else Decimal.

    Raises RejectedDeliveryError, naming the reason, for anything that is not UTF-8 JSON (NaN, a
    byte order mark, lone surrogates), for a nesting deeper than max_depth and for numbers beyond
    4,300 characters. Of duplicate members the last one counts, as for orjson and PostgreSQL.
    """
    bare = without_strings(payload)
    check_depth(bare, max_depth)
    if has_plain_numbers(bare):
        return _loads_fast(payload)
    value = loads_exact(payload, integer=_integer, fraction=_fraction)
    if b"\\u" in payload:
        _check_surrogates(value)
    return value


def without_strings(payload: bytes) -> bytes:
    """The text with each string emptied: what is left are brackets, numbers and words."""
    return _STRING.sub(b'""', payload)


def check_depth(bare: bytes, max_depth: int = MAX_DEPTH) -> None:
    """Raise RejectedDeliveryError when arrays and objects nest deeper than max_depth."""
    if bare.count(b"[") + bare.count(b"{") <= max_depth:
        return
    brackets = bare.translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > max_depth:
        raise RejectedDeliveryError(f"The JSON nests deeper than {max_depth} levels.")


def has_plain_numbers(bare: bytes) -> bool:
    """Whether each number is an integer of at most 15 digits, which orjson reads exactly."""
    return not _INEXACT.search(bare)


def loads_exact(payload: bytes, *, integer: Number, fraction: Number) -> Any:
    """Parse with a function for each kind of number text. The depth must have been checked."""
    try:
        # The text is decoded here: json.loads(bytes) would guess UTF-16 and accept it.
        text = payload.decode("utf-8")
        return json.loads(
            text, parse_int=integer, parse_float=fraction, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise RejectedDeliveryError(f"The body is not JSON: {_reason(error)}.") from error


def split_number(text: str) -> tuple[str, str, int]:
    """(sign, digits without zeros at either end, exponent of the last digit); digits "" is zero.

    Raises RejectedDeliveryError for a number too long to be kept exactly.
    """
    if len(text) > NUMBER_CHARACTERS:
        raise RejectedDeliveryError(
            f"The JSON holds a number of {len(text)} characters; at most {NUMBER_CHARACTERS}."
        )
    mantissa, _, power = text.lower().partition("e")
    if len(power.lstrip("+-0")) > EXPONENT_DIGITS:
        raise RejectedDeliveryError(
            f"The JSON holds a number whose exponent has more than {EXPONENT_DIGITS} digits."
        )
    whole, _, part = mantissa.lstrip("-").partition(".")
    digits = (whole + part).lstrip("0")
    stripped = digits.rstrip("0")
    exponent = int(power or "0") - len(part) + len(digits) - len(stripped)
    return ("-" if mantissa.startswith("-") else ""), stripped, exponent


def _loads_fast(payload: bytes) -> Any:
    try:
        return orjson.loads(payload)
    except (orjson.JSONDecodeError, TypeError) as error:
        raise RejectedDeliveryError(f"The body is not JSON: {_reason(error)}.") from error


def _integer(text: str) -> int:
    split_number(text)
    return int(text)


def _fraction(text: str) -> float | Decimal:
    split_number(text)
    exact, nearest = Decimal(text), float(text)
    # repr() gives the shortest text of a float, so 10.5 and 0.1 stay floats and 1e400 does not.
    return nearest if isfinite(nearest) and Decimal(repr(nearest)) == exact else exact


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _check_surrogates(value: Any) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str) and not _is_unicode(item):
            raise RejectedDeliveryError("The body is not JSON: a string holds a lone surrogate.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: BaseException) -> str:
    # Never the text of the body: it goes to logs and answers.
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, at character {error.pos}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return str(error) if isinstance(error, ValueError) else "it nests too deep"
