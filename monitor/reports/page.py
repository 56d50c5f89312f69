"""Keyset pages: rows of a list with opaque cursors to the next and the previous page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from monitor.reports.errors import CursorError

Row = TypeVar("Row")
Found = TypeVar("Found")

LIMIT = 50
MOST = 500  # rows a page may ask for
FIRST_TIME = "infinity"  # the first page starts before every row of a list that is newest first
FIRST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Row]):
    """Rows in the order of the list. next and previous are cursors, None where the list ends.

    partial: the search stopped at its bound before the page was full; next goes on from there.
    """

    rows: tuple[Row, ...]
    next: str | None = None
    previous: str | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page starts: after (or, back, before) the row with this sort value and id."""

    sort: str
    id: int
    back: bool = False

    def text(self) -> str:
        """The place as opaque text for a URL."""
        plain = f"{'b' if self.back else 'a'}|{self.sort}|{self.id}"
        return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def place(cursor: str | None, kind: type[datetime] | type[float] | type[int]) -> Place:
    """Read a cursor whose sort value is of that kind; None or "" is the start of the list.

    Raises CursorError for anything that a list of that kind did not write.
    """
    if not cursor:
        return Place(sort=FIRST_TIME if kind is not int else str(FIRST_ID), id=FIRST_ID)
    try:
        plain = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        way, sort, number = plain.decode().split("|")
        _check(sort, kind)
        found = Place(sort=sort, id=int(number), back=way == "b")
    except (ValueError, binascii.Error) as error:
        raise CursorError("This page link is damaged; open the list from its start.") from error
    if way not in ("a", "b") or abs(found.id) > FIRST_ID or len(sort) > 40:  # noqa: PLR2004
        raise CursorError("This page link is damaged; open the list from its start.")
    return found


def bounded(limit: int) -> int:
    """A page size between 1 and the most that a page may ask for."""
    return max(1, min(limit, MOST))


def build(
    found: Sequence[Row],
    start: Place,
    limit: int,
    *,
    key: Callable[[Row], tuple[datetime | float | int, int]],
) -> Page[Row]:
    """A page of at most `limit` rows out of `limit + 1` found rows, given in the order of the list.

    The extra row only tells that the list goes on: at the end, or at the front when going back.
    """
    more = len(found) > limit
    rows = (found[-limit:] if start.back else found[:limit]) if more else found
    if not rows:
        return Page(rows=())
    is_first_page = start.id == FIRST_ID and not start.back
    has_next = start.back or more
    has_previous = more if start.back else not is_first_page
    return Page(
        rows=tuple(rows),
        next=_text(key(rows[-1]), back=False) if has_next else None,
        previous=_text(key(rows[0]), back=True) if has_previous else None,
    )


def _text(key: tuple[datetime | float | int, int], *, back: bool) -> str:
    value, number = key
    # isoformat keeps all microseconds: a cursor cut to seconds would skip rows.
    sort = value.isoformat() if isinstance(value, datetime) else repr(value)
    return Place(sort=sort, id=number, back=back).text()


def _check(sort: str, kind: type[datetime] | type[float] | type[int]) -> None:
    if kind is int:
        int(sort)
    elif kind is float:
        float(sort)
    elif datetime.fromisoformat(sort).tzinfo is None:
        raise ValueError("a cursor's time has a zone")
