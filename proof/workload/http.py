"""Posts batches of CloudEvents, again and again until each event is answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

import orjson

from proof import history
from proof.workload.batches import Batch, Sent
from proof.workload.plan import HTTP

_ANSWER_SECONDS = 12
_PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 120
_WORDS = {"new": "n", "duplicate": "d", "mismatch": "m"}


class NotAcceptedError(Exception):
    """The server stayed silent, or refused what it must take."""


class Line:
    """A keep-alive connection, opened again when it broke."""

    def __init__(self, url: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=_ANSWER_SECONDS)

    def write(self, body: bytes) -> bool:
        """Put a request on its way. False when the connection could not take it."""
        headers = {"Content-Type": "application/cloudevents-batch+json"}
        try:
            self._connection.request("POST", f"/ingest/{HTTP}", body=body, headers=headers)
        except (OSError, HTTPException):
            self._connection.close()
            return False
        return True

    def read(self) -> tuple[int, bytes] | None:
        """Status and body of the answer; None when none came."""
        try:
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException):
            self._connection.close()
            return None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Poster:
    """Two lines to the server: the second one carries what leaves at the same moment."""

    def __init__(self, url: str, sender: int) -> None:
        self._lines = (Line(url), Line(url))
        self._sender = sender

    def send(self, batch: Batch) -> None:
        """Send until everything is answered. NotAcceptedError when the server does not take it."""
        parts = [part for part in (batch.deliveries, batch.twins) if part]
        bodies = [orjson.dumps([event(each) for each in part]) for part in parts]
        written = [line.write(body) for line, body in zip(self._lines, bodies, strict=False)]
        for line, part, body, is_written in zip(self._lines, parts, bodies, written, strict=False):
            self._finish(line, part, body, is_written=is_written)

    def close(self) -> None:
        """Close both lines."""
        for line in self._lines:
            line.close()

    def _finish(self, line: Line, part: Sequence[Sent], body: bytes, *, is_written: bool) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = line.read() if is_written else None
            if answer is not None and answer[0] != HTTPStatus.SERVICE_UNAVAILABLE:
                self._note(part, *answer)
                return
            self._say("refused" if answer else "unknown", part)
            if time.monotonic() > deadline:
                raise NotAcceptedError(f"Sender {self._sender}: no answer for {len(part)} events.")
            time.sleep(_PAUSE_SECONDS)
            is_written = line.write(body)

    def _note(self, part: Sequence[Sent], status: int, body: bytes) -> None:
        items = orjson.loads(body).get("items", []) if body.startswith(b"{") else []
        words = [_WORDS.get(item.get("outcome", ""), "?") for item in items]
        if len(words) != len(part) or "?" in words:
            raise NotAcceptedError(f"Sender {self._sender}: {status} {body[:300]!r}")
        self._say("acked", part, ids=[item["message"] for item in items], words="".join(words))

    def _say(self, what: str, part: Sequence[Sent], **more: object) -> None:
        numbers = [each.item.n for each in part]
        history.write(what, sender=self._sender, n=numbers, **more)


def event(sent: Sent) -> dict[str, object]:
    """The CloudEvent of a delivery."""
    item = sent.item
    return {
        "specversion": "1.0",
        "id": item.key,
        "source": "/proof",
        "type": item.kind,
        "data": item.changed if sent.is_changed else item.body,
    }
