"""Sends deliveries over HTTP: lanes in parallel, each in order, again and again until answered."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit
from zlib import crc32

from examples.demo.github_set import LANE
from examples.demo.plan import Planned, Role, Shape
from examples.demo.request import Request, Secrets, build

_ANSWER_SECONDS = 30
_PATIENCE_SECONDS = 60
_PAUSE_SECONDS = 0.2
_LATER = frozenset({429, 502, 503, 504})
_OUTCOMES = {202: "new", 200: "duplicate", 422: "mismatch"} | dict.fromkeys(
    (400, 401, 403, 413, 415), "refused"
)
_EXPECTED = {
    Role.FIRST: "new",
    Role.COPY: "duplicate",
    Role.CHANGED: "mismatch",
    Role.REFUSED: "refused",
}


class NotAnsweredError(Exception):
    """The server gave no answer within the sender's patience."""


@dataclass(slots=True)
class Tally:
    """What was answered. resent: sent again because no answer came; it may have arrived before."""

    outcomes: Counter[str] = field(default_factory=Counter)
    resent: int = 0
    surprises: list[str] = field(default_factory=list)

    @property
    def deliveries(self) -> int:
        """How many deliveries were answered."""
        return self.outcomes.total()

    def add(self, other: Tally) -> None:
        """Take another tally's figures in."""
        self.outcomes += other.outcomes
        self.resent += other.resent
        self.surprises += other.surprises


class Line:
    """A keep-alive connection to the server, opened again when it broke."""

    def __init__(self, url: str, stop: threading.Event) -> None:
        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc, timeout=_ANSWER_SECONDS)
        self._stop = stop
        self.resent = 0

    def write(self, request: Request) -> bool:
        """Put the request on its way. False when the connection could not take it."""
        try:
            self._connection.request(
                "POST", request.path, body=request.body, headers=dict(request.headers)
            )
        except (OSError, HTTPException):
            self._connection.close()
            return False
        return True

    def read(self) -> int | None:
        """The status of the answer; None when none came or the server asks for patience."""
        try:
            response = self._connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            self._connection.close()
            self.resent += 1
            return None
        return None if response.status in _LATER else response.status

    def deliver(self, request: Request) -> int:
        """The status of the answer, however often it takes. NotAnsweredError when none comes."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            status = self.read() if self.write(request) else None
            if status is not None:
                return status
            if time.monotonic() > deadline or self._stop.wait(_PAUSE_SECONDS):
                raise NotAnsweredError(f"No answer from {request.path}.")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Sender:
    """Two lines to the server: the second one carries what must arrive at the same moment."""

    def __init__(self, url: str, secrets: Secrets, stop: threading.Event) -> None:
        self._lines = (Line(url, stop), Line(url, stop))
        self._secrets = secrets
        self.tally = Tally()

    def send(self, group: Sequence[Planned]) -> None:
        """Send one delivery, or two at the same moment, and tally the answers."""
        requests = [build(each, self._secrets) for each in group]
        before = sum(line.resent for line in self._lines)
        pairs = list(zip(self._lines, requests, strict=False))
        written = [line.write(request) for line, request in pairs]
        statuses = [
            (line.read() if is_written else None) or line.deliver(request)
            for (line, request), is_written in zip(pairs, written, strict=True)
        ]
        resent = sum(line.resent for line in self._lines) - before
        self._count(group, [_OUTCOMES.get(status, str(status)) for status in statuses], resent)

    def close(self) -> None:
        """Close both lines."""
        for line in self._lines:
            line.close()

    def _count(self, group: Sequence[Planned], outcomes: list[str], resent: int) -> None:
        self.tally.outcomes.update(outcomes)
        self.tally.resent += resent
        expected = [_EXPECTED[each.role] for each in group]
        # Of two that are sent together either may be the first; one sent again may have arrived.
        if sorted(outcomes) != sorted(expected) and not resent:
            planned = f"{group[0].source} {group[0].key}: {' and '.join(expected)} was planned"
            self.tally.surprises.append(f"{planned}, {' and '.join(outcomes)} came")


def send_all(
    deliveries: Sequence[Planned],
    *,
    url: str,
    secrets: Secrets,
    stop: threading.Event,
    threads: int = 6,
) -> Tally:
    """Send everything; a lane keeps its order. Returns when all is answered.

    Raises NotAnsweredError when the server stays silent.
    """
    buckets: list[list[Planned]] = [[] for _ in range(threads)]
    for each in deliveries:
        buckets[_bucket(each.lane, threads)].append(each)
    total = Tally()
    with ThreadPoolExecutor(threads) as pool:
        for tally in pool.map(lambda bucket: _send_bucket(bucket, url, secrets, stop), buckets):
            total.add(tally)
    return total


def groups(deliveries: Iterable[Planned]) -> Iterator[list[Planned]]:
    """The deliveries in order, each with the copy that must leave together with it."""
    group: list[Planned] = []
    for each in deliveries:
        if group and each.shape is not Shape.TOGETHER:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _send_bucket(
    deliveries: list[Planned], url: str, secrets: Secrets, stop: threading.Event
) -> Tally:
    with closing(Sender(url, secrets, stop)) as sender:
        for group in groups(deliveries):
            if stop.is_set():
                raise NotAnsweredError("The sender was told to stop.")
            sender.send(group)
        return sender.tally


def _bucket(lane: str, threads: int) -> int:
    """GitHub's lane has a bucket of its own; the others share the rest evenly."""
    if lane == LANE or threads == 1:
        return 0
    return 1 + crc32(lane.encode()) % (threads - 1)
