"""Tabs of browsers that read themselves again, as static/dashboard/live.js does."""

from __future__ import annotations

import http.client
import random
import threading
import time
from dataclasses import dataclass, field

LIVE = {"HX-Request": "true", "HX-Target": "div#live"}
# What people leave open: mostly the overview, then lists, then one thing that they look at.
SHOWN = (
    *("/", "/", "/", "/", "/", "/", "/dead-letters/", "/dead-letters/", "/dead-letters/"),
    *("/sessions/", "/sessions/", "/alerts/", "/alerts/", "/messages/", "/consumers/"),
    *("/consumers/", "/reconcile/", "/mismatches/", "/duplicates/", "/system/"),
)


@dataclass(slots=True)
class Tabs:
    """Twenty tabs, each polling every so many seconds with what it knows of the page."""

    port: int
    cookie: str
    every_seconds: float
    answered: int = 0
    unchanged: int = 0
    failed: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Tabs:
        for place, path in enumerate(SHOWN):
            begin = self.every_seconds * place / len(SHOWN)
            thread = threading.Thread(target=self._tab, args=(path, begin), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(15)

    def _tab(self, path: str, begin: float) -> None:
        known, headers = "", {"Cookie": self.cookie, **LIVE}
        chance = random.Random(path)  # noqa: S311 - the jitter of live.js
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        if self._stop.wait(begin):
            return
        due = time.monotonic()
        while not self._stop.is_set():
            asked = {**headers, "If-None-Match": known} if known else headers
            connection.request("GET", path, headers=asked)
            answer = connection.getresponse()
            answer.read()
            known = answer.headers.get("ETag", "")
            self.answered += 1
            self.unchanged += answer.status == http.client.NOT_MODIFIED
            self.failed += answer.status >= http.client.BAD_REQUEST
            due += self.every_seconds * (0.9 + chance.random() * 0.2)
            self._stop.wait(max(0.0, due - time.monotonic()))
        connection.close()
