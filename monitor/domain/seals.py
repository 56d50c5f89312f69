"""Text to be edited by somebody who does not see what is redacted: seals stand for the values.

A seal is put back into the value it stands for, and only where that value stood, or where a value
is redacted too: otherwise editing would be a way to read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from monitor.domain import json_spans
from monitor.domain.json_spans import Span
from monitor.domain.redaction import Hidden, Policy, replaced

_SEAL = re.compile(r"⟦redacted ([0-9]{1,6}): [^⟦⟧]{0,100}⟧")
_SIGN = "⟦redacted"


class SealError(ValueError):
    """A seal stands where it may not; the text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A text with seals, and how many."""

    text: str
    count: int


def sealed(text: str, policy: Policy) -> Sealed | None:
    """The text with a seal for each hidden value; None when they cannot be told apart in it."""
    found = policy.find(text)
    if found.is_whole and found.hidden:
        if _SIGN in text:
            return None
        shown = replaced(text, found.hidden, lambda index, each: f'"{_seal(index, each)}"')
        return Sealed(text=shown, count=len(found.hidden))
    is_hiding = not found.is_whole and (policy.pointers or policy.mask(text) != text)
    return None if is_hiding else Sealed(text=text, count=0)


def opened(text: str, original: str, policy: Policy) -> str:
    """The text with the values of `original` in place of their seals. Raises SealError."""
    if _SIGN not in text:
        return text
    hidden = policy.find(original).hidden
    scan = json_spans.scan(text, policy.hides)
    if not scan.is_whole:
        raise SealError("the text is no JSON, so what is redacted cannot be put back into it")
    spans = [(span, True) for span in scan.found] + [(span, False) for span in scan.leaves]
    back = [
        Hidden(span=span, source=_opened(span, hidden, is_hidden=is_hidden, token=token))
        for span, is_hidden in sorted(spans, key=lambda each: each[0].start)
        if _SIGN in (token := text[span.start : span.end])
    ]
    if _SIGN in replaced(text, back, lambda _index, _each: ""):
        raise SealError("a name of a member holds what stands for a redacted value")
    return replaced(text, back, lambda _index, each: each.source)


def _opened(span: Span, hidden: tuple[Hidden, ...], *, is_hidden: bool, token: str) -> str:
    seal = _SEAL.fullmatch(json_spans.decoded(token)) if span.kind == "text" else None
    if seal is None:
        raise SealError("what stands for a redacted value was changed; replace the whole value")
    number = int(seal[1]) - 1
    if not 0 <= number < len(hidden):
        raise SealError(f"there is no redacted value {number + 1}")
    if not is_hidden and hidden[number].span.path != span.path:
        raise SealError(f"redacted value {number + 1} was moved to a place where it would be shown")
    return hidden[number].source


def _seal(index: int, hidden: Hidden) -> str:
    return f"{_SIGN} {index + 1}: {hidden.span.kind}, {hidden.span.length}⟧"
