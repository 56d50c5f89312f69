"""Filters of the lists and fields of the verbs, as typed values; a wrong one is not given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from monitor.domain.scope import Scope
from monitor.domain.states import State
from monitor.operations import bulk

_LARGEST_ID = 2**63 - 1
_LARGEST_CONSUMER = 2**15 - 1
_LONGEST_TEXT = 512
_MOST_PICKED = 500
ALERT_STATES = ("open", "acknowledged", "resolved")
_YEARS = range(1970, 3000)  # a message's; beyond them arithmetic with times may fail
MINUTES = (60, 180, 720, 1440)


def whole(text: str | None, largest: int = _LARGEST_ID) -> int | None:
    """A whole number from 0 to the largest, or None."""
    if not text or not text.isascii() or not text.isdigit() or len(text) > len(str(largest)):
        return None
    value = int(text)
    return value if value <= largest else None


def link(**values: object) -> str:
    """The query of a list's URL with the filters that are set: "?state=dead&consumer=3"."""
    query = urlencode({name: value for name, value in values.items() if value not in (None, "")})
    return f"?{query}" if query else "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages: those a text finds, or the newest of a state and consumer."""

    text: str
    state: State | None
    consumer: int | None
    cursor: str | None

    @classmethod
    def parse(cls, query: QueryDict) -> MessageFilter:
        """Read from the URL."""
        state = query.get("state")
        return cls(
            text=_text(query.get("q")),
            state=State(state) if state in set(State) else None,
            consumer=chosen_consumer(query),
            cursor=query.get("page"),
        )

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered, so that an empty list means "no match"."""
        return bool(self.text or self.state or self.consumer is not None)

    @property
    def query(self) -> str:
        """The filter without its page, for links."""
        return link(q=self.text, state=self.state, consumer=self.consumer)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterFilter:
    """Which dead letters: of a cause, a consumer or a session."""

    cause: str | None
    consumer: int | None
    session: int | None
    cursor: str | None

    @classmethod
    def parse(cls, query: QueryDict) -> DeadLetterFilter:
        """Read from the URL."""
        return cls(
            cause=_text(query.get("cause")) or None,
            consumer=chosen_consumer(query),
            session=whole(query.get("session")),
            cursor=query.get("page"),
        )

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.cause or self.session or self.consumer is not None)

    @property
    def query(self) -> str:
        """The filter without its page, for links."""
        return link(cause=self.cause, consumer=self.consumer, session=self.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """The filter of a simple list: a consumer, one choice, a page."""

    choice: str
    consumer: int | None
    cursor: str | None

    @classmethod
    def parse(cls, query: QueryDict, *, choices: tuple[str, ...]) -> ListFilter:
        """Read from the URL; the first choice is the default."""
        choice = query.get("show", "")
        return cls(
            choice=choice if choice in choices else choices[0],
            consumer=chosen_consumer(query),
            cursor=query.get("page"),
        )

    @property
    def query(self) -> str:
        """The filter without its page, for links."""
        return link(show=self.choice, consumer=self.consumer)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which acts: of a person, a verb, on one thing, or of a span of time (until: before it)."""

    actor: str | None
    verb: str | None
    thing: tuple[str, int] | None
    since: datetime | None
    until: datetime | None
    cursor: str | None

    @classmethod
    def parse(cls, query: QueryDict) -> AuditFilter:
        """Read from the URL; the thing is written kind:id, a time without zone is the viewer's."""
        kind, _, number = query.get("object", "").partition(":")
        found = whole(number)
        return cls(
            actor=_text(query.get("actor")) or None,
            verb=_text(query.get("verb")) or None,
            thing=(_text(kind), found) if kind and found is not None else None,
            since=_moment(query.get("since")),
            until=_moment(query.get("until")),
            cursor=query.get("page"),
        )

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.actor or self.verb or self.thing or self.since or self.until)

    @property
    def object(self) -> str:
        """The thing as it stands in the URL."""
        return f"{self.thing[0]}:{self.thing[1]}" if self.thing else ""

    @property
    def query(self) -> str:
        """The filter without its page, for links."""
        times = {"since": self.since and self.since.isoformat()}
        times["until"] = self.until and self.until.isoformat()
        return link(actor=self.actor, verb=self.verb, object=self.object, **times)


def window(query: QueryDict) -> int:
    """Minutes a chart looks back."""
    minutes = whole(query.get("minutes"))
    return minutes if minutes in MINUTES else MINUTES[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a requeue goes, and the share of failures that stops it."""

    per_second: float | None
    failure_limit: float


def scope(request: HttpRequest) -> Scope:
    """The dead letters that a form names: of a cause, a consumer, a session, or of any."""
    return Scope(
        cause=_text(request.POST.get("cause")) or None,
        consumer=chosen_consumer(request.POST),
        session=whole(request.POST.get("session")),
    )


def pace(request: HttpRequest) -> Pace:
    """The pace that was chosen; where it is senseless, as fast as it goes and the usual limit."""
    percent = whole(request.POST.get("percent"), 100)
    return Pace(
        per_second=whole(request.POST.get("per_second"), 10_000) or None,
        failure_limit=bulk.FAILURE_LIMIT if percent is None else percent / 100,
    )


def seen(request: HttpRequest) -> int:
    """The version that the page showed; 0, which no row has, when it is missing or wrong."""
    return whole(request.POST.get("seen")) or 0


def picked(request: HttpRequest) -> list[tuple[int, int]]:
    """The ticked rows as (id, seen version), each once, at most a page of them."""
    found: dict[int, int] = {}
    for text in request.POST.getlist("pick")[:_MOST_PICKED]:
        number, _, version = text.partition(":")
        row, seen_version = whole(number), whole(version)
        if row is not None and seen_version is not None:
            found[row] = seen_version
    return list(found.items())


def reason(request: HttpRequest) -> str:
    """The reason or note that was typed in."""
    return request.POST.get("reason", "").replace("\x00", "").strip()


def reference(request: HttpRequest) -> str:
    """The reference outside that was typed in: what the provider calls the thing."""
    return request.POST.get("reference", "").replace("\x00", "").strip()


def until(request: HttpRequest) -> datetime | None:
    """The end of a hold, from a number of minutes; None: until somebody resumes it."""
    minutes = whole(request.POST.get("minutes"), 100_000)
    return timezone.now() + timedelta(minutes=minutes) if minutes else None


def chosen_consumer(query: QueryDict) -> int | None:
    """The consumer that a filter or a form names, or None."""
    return whole(query.get("consumer"), _LARGEST_CONSUMER)


def _moment(text: str | None) -> datetime | None:
    """A time as ISO 8601 writes it, in the viewer's zone where it names none; or None."""
    try:
        found = datetime.fromisoformat((text or "").strip())
        aware = timezone.make_aware(found) if timezone.is_naive(found) else found
        return aware.astimezone(UTC) if found.year in _YEARS else None
    except (ValueError, OverflowError):
        return None


def _text(text: str | None) -> str:
    # PostgreSQL has no NUL in text, so nothing can match it.
    return (text or "").replace("\x00", "").strip()[:_LONGEST_TEXT]
