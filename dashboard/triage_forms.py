"""The filter of the Triage page and the fields of its verbs, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard import forms
from monitor.domain.triage import KINDS, GroupState

SHOWN = ("all", *(str(each) for each in GroupState))
MORNING = time(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageFilter:
    """Which groups: of a state (all: whatever is not resolved), kind, consumer; only mine."""

    choice: str
    kind: str | None
    consumer: int | None
    is_mine: bool
    cursor: str | None

    @classmethod
    def parse(cls, query: QueryDict) -> TriageFilter:
        """Read from the URL."""
        choice, kind = query.get("show", ""), query.get("kind", "")
        return cls(
            choice=choice if choice in SHOWN else SHOWN[0],
            kind=kind if kind in KINDS else None,
            consumer=forms.chosen_consumer(query),
            is_mine=query.get("mine") == "1",
            cursor=query.get("page"),
        )

    @property
    def state(self) -> GroupState | None:
        """The state that is wanted; None: any that is not resolved."""
        return None if self.choice == SHOWN[0] else GroupState(self.choice)

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered, so that an empty list means "no match"."""
        return bool(self.kind or self.is_mine or self.consumer is not None)

    @property
    def query(self) -> str:
        """The filter without its page, for links."""
        return f"?show={self.choice}{self.rest}"

    @property
    def rest(self) -> str:
        """The filter without state and page, to go on in a link."""
        mine = "1" if self.is_mine else None
        found = forms.link(kind=self.kind, consumer=self.consumer, mine=mine)
        return f"&{found[1:]}" if found != "?" else ""


def seen(request: HttpRequest) -> int:
    """The version that the page showed: 0 where nobody had said anything; -1 when it is missing."""
    found = forms.whole(request.POST.get("seen"))
    return -1 if found is None else found


def text(request: HttpRequest, name: str) -> str:
    """A text that was typed in."""
    return request.POST.get(name, "").replace("\x00", "").strip()


def until(request: HttpRequest) -> datetime | None:
    """The end of a snooze, in the viewer's zone; None when none was chosen or it cannot be read."""
    choice = request.POST.get("until")
    if choice == "hour":
        return timezone.now() + timedelta(hours=1)
    if choice == "morning":
        return tomorrow_morning()
    try:
        found = parse_datetime(request.POST.get("at", ""))
    except ValueError:
        return None
    return timezone.make_aware(found) if found and timezone.is_naive(found) else found


def tomorrow_morning() -> datetime:
    """Tomorrow at eight in the viewer's zone."""
    day = timezone.localdate() + timedelta(days=1)
    return timezone.make_aware(datetime.combine(day, MORNING))
