"""The pages that are measured: every list and detail, searches, and the far ends of long lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from django.db import connection

from dashboard.camera import DETAILS, LISTS
from monitor.reports.page import FIRST_ID, Place
from monitor.store.sql import load

SQL = load(__file__)
Read = Callable[[str], str]  # the text of the page at an address
_LONG = (
    ("dead", "/dead-letters/?"),
    ("messages", "/messages/?"),
    ("audit", "/audit/?"),
    ("settled", "/reconcile/?show=settled&"),
)
_HREF = re.compile(r'href="([^"]+)"')


def pages(read: Read) -> list[tuple[str, str]]:
    """(name, address) of each page."""
    return [*LISTS, *_details(read), *_places(), *_searches()]


def _details(read: Read) -> Iterator[tuple[str, str]]:
    for name, address, pattern in DETAILS:
        base = address.partition("?")[0]
        links = (link.replace("&amp;", "&") for link in _HREF.findall(read(address)))
        full = (base + link if link.startswith("?") else link for link in links)
        found = next((link for link in full if re.match(pattern, link)), None)
        if found is not None:
            yield name, found


def _places() -> Iterator[tuple[str, str]]:
    """The middle and the last page of the lists that are long."""
    for name, address in _LONG:
        with connection.cursor() as cursor:
            cursor.execute(SQL[name])
            sort, number = cursor.fetchone()
        yield f"{name}-middle", f"{address}page={Place(sort=sort, id=number).text()}"
        yield f"{name}-last", f"{address}page={_end(name)}"
    yield "dead-cause-last", f"/dead-letters/?cause={quote(_cause())}&page={_end('dead')}"


def _end(name: str) -> str:
    """The place behind the last row of a list."""
    sort = "0001-01-01T00:00:00+00:00" if name == "dead" else "0"
    return Place(sort=sort, id=0, back=True).text()


def _searches() -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(SQL["key"])
        (key,) = cursor.fetchone()
    yield "search-key", f"/messages/?q={quote(key)}"
    yield "search-beginning", f"/messages/?q={quote(key[:8])}"
    yield "search-many", "/messages/?q=order-"
    yield "search-session", "/messages/?q=acc-00001"
    yield "search-id", f"/messages/?q={FIRST_ID}"
    yield "search-text", "/messages/?q=corrected%20amount"
    for state in ("ready", "waiting", "running", "done"):
        yield f"messages-{state}", f"/messages/?state={state}"


def _cause() -> str:
    with connection.cursor() as cursor:
        cursor.execute(SQL["cause"])
        return str(cursor.fetchone()[0])
