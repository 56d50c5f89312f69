"""Turns any exception into text that always fits the database, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from traceback import extract_tb

_TEXT_CHARACTERS = 4000
_CLASS_CHARACTERS = 200
_FRAMES = 5
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\d+|'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedError:
    """An error as text. cause: equal for errors of one class with one shape of text."""

    class_name: str
    text: str
    cause: str
    where: tuple[str, ...] = ()


def render(error: BaseException, mask: Callable[[str], str] | None = None) -> RenderedError:
    """The error as safe text; never raises, also when the error's own __str__ or the mask does.

    NUL and lone surrogates are replaced, long texts are cut with a note, and numbers, addresses and
    quoted parts do not count for the cause. mask takes out what nobody shall read.
    """
    class_name = clean(type(error).__qualname__, _CLASS_CHARACTERS)
    text = clean(_masked(_own_text(error), mask), _TEXT_CHARACTERS)
    shape = _VARIABLE.sub("…", text.partition("\n")[0])
    digest = blake2b(f"{class_name}\n{shape}".encode(), digest_size=6).hexdigest()
    return RenderedError(
        class_name=class_name, text=text, cause=f"{class_name}-{digest}", where=_frames(error)
    )


def clean(text: str, limit: int) -> str:
    """The text without NUL and lone surrogates, cut at limit characters with a note."""
    if len(text) > limit:
        text = f"{text[:limit]} … ({len(text) - limit} more characters)"
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def _own_text(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception as broken:
        return f"(its text cannot be read: {type(broken).__name__})"


def _masked(text: str, mask: Callable[[str], str] | None) -> str:
    if mask is None:
        return text
    # What is cut away anyway is not looked through; it only counts for the note of its length.
    looked_at, rest = text[: 4 * _TEXT_CHARACTERS], text[4 * _TEXT_CHARACTERS :]
    try:
        return mask(looked_at) + " " * len(rest)
    except Exception as broken:  # what cannot be masked is not told
        return f"(its text is withheld: {type(broken).__name__})"


def _frames(error: BaseException) -> tuple[str, ...]:
    try:
        frames = extract_tb(error.__traceback__)[-_FRAMES:]
    except Exception:  # the place is a help, never a reason to fail
        return ()
    return tuple(
        clean(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}", 200)
        for frame in frames
    )
