"""Which values of a payload are shown to nobody who does not reveal them, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from monitor.domain import json_spans, masking
from monitor.domain.errors import ConfigurationError
from monitor.domain.json_spans import Scan, Span

# What is hidden everywhere unless standard = false. Two words also stand for a member within one:
# {"card": {"number": …}}.
STANDARD = (
    *("password", "passwd", "pwd", "passphrase", "passcode", "secret", "token", "credential"),
    *("authorization", "cookie", "bearer", "jwt", "otp", "private key", "api key", "access key"),
    *("card number", "pan", "cvv", "cvc", "cvv2", "cvc2", "security code", "pin code", "ssn"),
)
ANY = "*"  # in a pointer: any member or index
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
_LONGEST_NAME = 256
_LONGEST_KEPT = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Names of members, whatever their place, and JSON pointers to values."""

    names: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if len(_folded(name)) < 2:  # noqa: PLR2004 - "" and "n" would hide nearly everything
                raise ConfigurationError(f"names: {name!r} has too few letters or digits.")
        for pointer in self.pointers:
            if not re.fullmatch(r"(?:/(?:[^~/]|~[01])*)*", pointer):
                raise ConfigurationError(
                    f"pointers: {pointer!r} is no JSON pointer, such as /card/number."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A value to hide: text[start:end]. masked: a text of which only a part is hidden.

    source: the value as it stands in the text; it is for comparing, never for showing.
    """

    span: Span
    source: str = field(repr=False)
    masked: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What of a text is hidden, in its order; the rest is that of the scan: see json_spans."""

    hidden: tuple[Hidden, ...]
    end: int
    is_whole: bool
    is_cut: bool
    complete: int
    closing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is hidden of the messages of one source and consumer."""

    names: frozenset[str] = frozenset()
    pointers: frozenset[tuple[str, ...]] = frozenset()

    def hides_name(self, name: str, within: str = "") -> bool:
        """Whether the value of a member, or of a header, is hidden by its name."""
        if len(name) + len(within) > _LONGEST_NAME:
            return _is_named(self.names, name, "")
        return _cached(self.names, name, within)

    def find(self, text: str, values: Sequence[str] = ()) -> Found:
        """The values of JSON text that are hidden, also of one that ends in the middle.

        values: hidden ones of another text, which are hidden here wherever they stand.
        """
        # A page of a message looks twice, and is read again every two seconds.
        if not values and len(text) <= _LONGEST_KEPT:
            return _kept(self, text)
        return self._find(text, values)

    def _find(self, text: str, values: Sequence[str]) -> Found:
        scan = json_spans.scan(text, self.hides)
        whole = [
            Hidden(span=each, source=text[each.start : each.end])
            for each in scan.found
            if each.kind != "null"  # that there is none is no secret
        ]
        found = sorted(
            [*whole, *self._partly(text, scan, values)], key=lambda each: each.span.start
        )
        return Found(
            hidden=tuple(found),
            end=scan.end,
            is_whole=scan.is_whole,
            is_cut=scan.is_cut,
            complete=scan.complete,
            closing=scan.closing,
        )

    def mask(self, text: str, values: Sequence[str] = ()) -> str:
        """A text without structure, as far as one can tell: an error, a part of an answer.

        values: what the method of that name gave of the payload that the text may speak of.
        """
        if not self.names and not values:
            return text
        return masking.pairs(masking.verbatim(text, values), self.hides_name)

    def values(self, text: str) -> tuple[str, ...]:
        """The hidden values of a JSON text in the forms in which other texts may hold them."""
        return masking.forms(
            leaf for each in self.find(text).hidden if each.masked is None for leaf in _leaves(each)
        )

    def hides(self, path: Sequence[str], is_member: bool) -> bool:
        """Whether a value is hidden: by its place or, of a member, by its name."""
        if self.pointers and any(_leads(each, path) for each in self.pointers):
            return True
        return is_member and self.hides_name(path[-1], _parent(path))

    def _partly(self, text: str, scan: Scan, values: Sequence[str]) -> Iterator[Hidden]:
        for span in scan.leaves:
            source = text[span.start : span.end]
            if span.kind == "number":
                if source in values:
                    yield Hidden(span=span, source=source)
                continue
            plain = json_spans.decoded(source)
            masked = self.mask(plain, values)
            if masked != plain:
                yield Hidden(span=span, source=source, masked=masked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What a deployer wants hidden: everywhere, of a source, and of a consumer.

    standard: whether the names of STANDARD count too.
    """

    standard: bool = True
    names: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    sources: Mapping[str, Rules] = field(default_factory=dict)
    consumers: Mapping[str, Rules] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Rules(names=self.names, pointers=self.pointers)
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))
        object.__setattr__(self, "consumers", MappingProxyType(dict(self.consumers)))

    def policy(self, source: str, consumer: str) -> Policy:
        """What is hidden of the messages of this source and consumer; of any one for ""."""
        rules = [
            Rules(names=self.names, pointers=self.pointers),
            *_of(self.sources, source),
            *_of(self.consumers, consumer),
        ]
        names = [*(STANDARD if self.standard else ()), *(n for each in rules for n in each.names)]
        return Policy(
            names=frozenset(map(_folded, names)),
            pointers=frozenset(_parts(each) for rule in rules for each in rule.pointers),
        )


def replaced(text: str, hidden: Sequence[Hidden], label: Callable[[int, Hidden], str]) -> str:
    """The text with each hidden value replaced by label(its index, it)."""
    parts, at = [], 0
    for index, each in enumerate(hidden):
        parts += [text[at : each.span.start], label(index, each)]
        at = each.span.end
    return "".join([*parts, text[at:]])


def _of(ruled: Mapping[str, Rules], name: str) -> list[Rules]:
    if not name:  # it is not known any more: what is hidden of one of them is hidden
        return list(ruled.values())
    return [ruled[name]] if name in ruled else []


def _leaves(each: Hidden) -> Iterator[str]:
    """The texts and numbers within a hidden value, as plain text."""
    source = each.source
    if each.span.kind in ("object", "array"):
        for span in json_spans.scan(source, lambda _path, _is_member: False).leaves:
            leaf = source[span.start : span.end]
            yield json_spans.decoded(leaf) if span.kind == "text" else leaf
    elif each.span.kind in ("text", "number"):
        yield json_spans.decoded(source) if each.span.kind == "text" else source


def _leads(pointer: tuple[str, ...], path: Sequence[str]) -> bool:
    if len(pointer) != len(path):
        return False
    return all(part in (ANY, step) for part, step in zip(pointer, path, strict=True))


def _parts(pointer: str) -> tuple[str, ...]:
    steps = pointer.split("/")[1:]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _parent(path: Sequence[str]) -> str:
    """The name of the object that a member stands in; an index of a list is no name."""
    for at in range(len(path) - 2, -1, -1):
        if not path[at].isdigit():
            return path[at]
    return ""


def _folded(name: str) -> str:
    return "".join(_words(name))


def _words(name: str) -> list[str]:
    return [each.casefold() for each in _WORD.findall(name)]


@lru_cache(maxsize=8)
def _kept(policy: Policy, text: str) -> Found:
    return policy._find(text, ())


@lru_cache(maxsize=4096)
def _cached(names: frozenset[str], name: str, within: str) -> bool:
    return _is_named(names, name, within)


def _is_named(names: frozenset[str], name: str, within: str) -> bool:
    """Whether neighbouring words of the name make a hidden one; the words around it may help."""
    own, outer = _words(name), _words(within)
    longest = max(map(len, names), default=0) + 1
    for first in range(-len(outer), len(own)):
        words = outer[first:] + own if first < 0 else own[first : first + longest]
        least = len(words) - len(own) + 1 if first < 0 else 1
        if _begins_hidden(names, words, least, longest):
            return True
    return False


def _begins_hidden(names: frozenset[str], words: list[str], least: int, longest: int) -> bool:
    joined = ""
    for count, word in enumerate(words, start=1):
        joined += word
        if len(joined) > longest:
            return False
        if count >= least and (joined in names or joined.removesuffix("s") in names):
            return True
        if count < least:
            joined = joined.removesuffix("s")  # {"cards": [{"number": …}]}
    return False
