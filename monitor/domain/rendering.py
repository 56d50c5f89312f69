"""Turns any exception into text that always fits the database, whatever it holds."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from traceback import extract_tb, walk_tb

_TEXT_CHARACTERS = 4000
_CLASS_CHARACTERS = 200
_FRAME_CHARACTERS = 200
_FRAMES = 5
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\d+|'[^']*'|\"[^\"]*\"")
_LIBRARIES = (Path(__file__).parents[1], *map(sysconfig.get_path, ("stdlib", "platstdlib")))
_FOREIGN = ("<", *(f"{folder}/" for folder in _LIBRARIES))
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedError:
    """An error as text. cause: equal for one class, one shape of text and the same own frames.

    where: the innermost frames with their lines. own: the innermost frames of the host's code, as
    module and function, without lines, so that a deploy that only moves a line changes no cause.
    """

    class_name: str
    text: str
    cause: str
    where: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of an error's text. is_variable: it does not count for the cause."""

    text: str
    is_variable: bool


def render(error: BaseException, mask: Callable[[str], str] | None = None) -> RenderedError:
    """The error as safe text; never raises, also when the error's own __str__ or the mask does.

    NUL and lone surrogates are replaced, long texts are cut with a note, and numbers, addresses and
    quoted parts do not count for the cause. The standard library, installed packages and this
    product are not the host's code; an error without frames of it is told by class and text alone.
    mask takes out what nobody shall read.
    """
    class_name = clean(type(error).__qualname__, _CLASS_CHARACTERS)
    text = clean(_masked(_own_text(error), mask), _TEXT_CHARACTERS)
    own = _own_frames(error)
    compared = "\n".join((class_name, shape(text), *own))
    return RenderedError(
        class_name=class_name,
        text=text,
        cause=f"{class_name}-{digest(compared)}",
        where=_frames(error),
        own=own,
    )


def shape(text: str) -> str:
    """What of an error's text counts for its cause: its first line without variable parts."""
    return _VARIABLE.sub("…", text.partition("\n")[0])


def parts(text: str) -> tuple[Part, ...]:
    """The first line of an error's text, cut where parts begin and end that do not count."""
    line, at, found = text.partition("\n")[0], 0, []
    for match in _VARIABLE.finditer(line):
        found.append(Part(text=line[at : match.start()], is_variable=False))
        found.append(Part(text=match[0], is_variable=True))
        at = match.end()
    found.append(Part(text=line[at:], is_variable=False))
    return tuple(part for part in found if part.text)


def digest(text: str) -> str:
    """A short name for a text: 12 hex digits, the same wherever the text is."""
    return blake2b(text.encode(), digest_size=6).hexdigest()


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


def _own_frames(error: BaseException) -> tuple[str, ...]:
    """The innermost frames of the host's code, each once: a recursion is one frame however deep."""
    try:
        found = list(dict.fromkeys(_named(error)))
    except Exception:  # the place is a help, never a reason to fail
        return ()
    return tuple(found[-_FRAMES:])


def _named(error: BaseException) -> Iterator[str]:
    for frame, _line in walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        if path.startswith(_FOREIGN) or any(folder in path for folder in _INSTALLED):
            continue
        name = f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"
        yield clean(name, _FRAME_CHARACTERS)


def _frames(error: BaseException) -> tuple[str, ...]:
    try:
        frames = extract_tb(error.__traceback__)[-_FRAMES:]
    except Exception:  # the place is a help, never a reason to fail
        return ()
    return tuple(
        clean(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}", _FRAME_CHARACTERS)
        for frame in frames
    )
