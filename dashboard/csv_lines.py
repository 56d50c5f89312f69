"""Lines of CSV that a spreadsheet reads as texts and numbers, never as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain

from dashboard import words

# What a spreadsheet may take as the beginning of a formula (OWASP, "CSV Injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Cell = str | int | float | datetime | None


def lines(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """The head and each row as a line that ends with CR LF (RFC 4180); times in UTC."""
    place = io.StringIO()
    writer = csv.writer(place)
    for row in chain([head], rows):
        writer.writerow([_cell(each) for each in row])
        yield place.getvalue()
        place.seek(0)
        place.truncate()


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if not isinstance(value, str):
        return value  # a number stays one, also below zero
    shown = words.visible(value)
    return f"'{shown}" if value.startswith(_FORMULA) else shown
