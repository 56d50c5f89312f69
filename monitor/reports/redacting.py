"""Takes what is redacted out of everything a report gives away, before it leaves the server."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from django.utils.translation import gettext as _

from monitor import conf
from monitor.domain.fingerprint import fingerprint
from monitor.domain.redaction import Found, Hidden, Policy, replaced
from monitor.reports.reading import Cursor
from monitor.store import sql

SQL = sql.load(__file__)

OPEN = Policy()  # of those to whom the whole is revealed: it hides nothing
_SECRET = secrets.token_bytes(16)  # of this process: a digest tells nobody what it stands for
_MARK = f"\ue000{secrets.token_hex(8)}:"
_MARKED = re.compile(re.escape(_MARK) + r"[0-9a-f]{16}\|")
_LOOKED_AT = 65_536  # bytes of a payload whose hidden values are masked in other texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """What is hidden of one message, and the hidden values of its payload for its other texts."""

    policy: Policy
    values: tuple[str, ...] = ()

    def text(self, plain: str) -> str:
        """A text without structure: an error, a reason, a part of an answer."""
        return self.policy.mask(plain, self.values)

    def json(self, text: str) -> str:
        """JSON text with its hidden values marked, for json_text to read; other text is masked."""
        found = self.policy.find(text, self.values)
        if not found.is_whole:
            return self.text(text_of(self.policy, text, found))
        return as_json(text, found)

    def header(self, name: str, value: str) -> str:
        """The value of a header, or of another named thing."""
        if self.policy.hides_name(name) and value:
            return _label("text", len(value))
        return self.text(value)

    def headers(self, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Named values with what is hidden of each taken out."""
        return tuple((name, self.header(name, value)) for name, value in pairs)


def policy(source: str, consumer: str) -> Policy:
    """What is hidden of the messages of this source and consumer; "" is unknown."""
    return conf.get().redaction.policy(source, consumer)


def of_message(cursor: Cursor, message_id: int, consumer: str) -> Redactor:
    """The redactor of a message, whose payload may be gone; consumer: its name."""
    cursor.execute(SQL["texts"], {"id": message_id, "count": _LOOKED_AT})
    row = cursor.fetchone()
    if row is None:
        return Redactor(policy=policy("", consumer))
    wanted = policy(row[0], consumer)
    texts = [bytes(each).decode(errors="replace") for each in row[1:] if each is not None]
    values = {form for text in texts for form in wanted.values(text)}
    return Redactor(policy=wanted, values=tuple(sorted(values, key=len, reverse=True)))


def text_of(wanted: Policy, text: str, found: Found) -> str:
    """A text with labels for its hidden values; what is no JSON in it is masked by its names."""
    read = replaced(text[: found.end], found.hidden, lambda _index, each: _shown(each))
    return read + wanted.mask(text[found.end :])


def as_json(text: str, found: Found) -> str:
    """JSON text whose hidden values are marked strings."""
    return replaced(
        text, found.hidden, lambda _index, each: json.dumps(_marked(each), ensure_ascii=False)
    )


def as_beginning(text: str, found: Found) -> str:
    """The same of JSON that was cut: its values as far as they are whole."""
    whole = tuple(each for each in found.hidden if each.span.end <= found.complete)
    return as_json(text[: found.complete], replace(found, hidden=whole)) + found.closing


def is_withheld(wanted: Policy, found: Found, *, is_truncated: bool) -> bool:
    """Whether a body must stay hidden as a whole: places are named, and it has none to look at."""
    is_read = found.is_whole or (is_truncated and found.is_cut)
    return bool(wanted.pointers) and not is_read


def marked_lines(wanted: Policy, text: str, found: Found) -> list[str]:
    """A text line by line, each line with the digest of what is hidden in it."""
    read = replaced(text[: found.end], found.hidden, lambda _index, each: _marked(each))
    lines = (read + text[found.end :]).splitlines()
    return [_line(wanted, line) for line in lines]


def is_marked(text: str) -> bool:
    """Whether a text stands for a hidden value."""
    return text.startswith(_MARK)


def are_equal(first: str, second: str) -> bool:
    """Whether two marked texts stand for equal values, as 1.0 and 1 are."""
    return first.partition("|")[0] == second.partition("|")[0]


def unmarked(text: str) -> str:
    """The text as it is shown: without digests."""
    return _MARKED.sub("", text)


def _line(wanted: Policy, line: str) -> str:
    masked = wanted.mask(line)
    return masked if masked == line else _mark(line.encode(errors="surrogatepass")) + masked


def _shown(hidden: Hidden) -> str:
    """What is shown for a hidden value: its kind and length, or the rest of a masked text."""
    if hidden.masked is not None:
        return json.dumps(hidden.masked, ensure_ascii=False)
    return _label(hidden.span.kind, hidden.span.length)


def _marked(hidden: Hidden) -> str:
    """The label of a value with a digest, so that two hidden values are seen to differ."""
    content = fingerprint(hidden.source.encode(errors="surrogatepass"), "application/json")
    return _mark(content) + _shown(hidden)


def _mark(content: bytes) -> str:
    digest = blake2b(content, key=_SECRET, digest_size=8).hexdigest()
    return f"{_MARK}{digest}|"


def _label(kind: str, length: int) -> str:
    known = {
        "text": _("[redacted: text, %(length)d characters]"),
        "number": _("[redacted: number, %(length)d characters]"),
        "boolean": _("[redacted: true or false]"),
        "object": _("[redacted: object, %(length)d members]"),
        "array": _("[redacted: list, %(length)d members]"),
    }
    return known[kind] % {"length": length}
