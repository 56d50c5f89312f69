"""A payment provider on loopback, in three kinds: it de-duplicates, it can be asked, or neither.

POST /<kind>/charges with an Idempotency-Key charges; GET /queryable/charges/<key> looks it up.
GET /ledger tells how often each key was charged, which no real provider would.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.provider.faults import Fault, Faults
from examples.provider.ledger import Ledger

KINDS = ("keyed", "queryable", "neither")
_MOST_BODY_BYTES = 65_536
_SILENCE_SECONDS = 30


class Provider(ThreadingHTTPServer):
    """The server; it answers each request in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        ledger: Ledger,
        *,
        port: int = 0,
        faults: Faults | None = None,
        closed_seconds: float = 0.0,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.ledger = ledger
        self.faults = faults or Faults()
        self.closed_seconds = closed_seconds
        self._lock = threading.Lock()
        self._requests: Counter[str] = Counter()
        self._at_work: set[str] = set()
        self._dropped: dict[str, float] = {}

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def fault_of(self, key: str, request: dict[str, Any]) -> Fault:
        """What happens to this request: as it asks for, the first time; else by chance."""
        with self._lock:
            self._requests[key] += 1
            count = self._requests[key]
        wanted = request.get("pretend")
        if wanted in set(Fault):
            return Fault(wanted) if count == 1 else Fault.NONE
        return self.faults.choose(key, count)

    def begin(self, key: str) -> bool:
        """Take the key in hand; False while another request with it is at work."""
        with self._lock:
            if key in self._at_work:
                return False
            self._at_work.add(key)
            return True

    def end(self, key: str) -> None:
        """Let go of the key."""
        with self._lock:
            self._at_work.discard(key)

    def close_lookup(self, key: str) -> None:
        """From now on this charge cannot be looked up for closed_seconds."""
        with self._lock:
            self._dropped[key] = time.monotonic() + self.closed_seconds

    def can_be_asked(self, key: str) -> bool:
        """Whether the charge can be looked up now."""
        with self._lock:
            return time.monotonic() >= self._dropped.get(key, 0.0)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SILENCE_SECONDS
    server: Provider

    def do_POST(self) -> None:
        """Charge."""
        kind, place, _ = self._place()
        request = self._request()
        key = self.headers.get("Idempotency-Key", "")
        if kind not in KINDS or place != "charges":
            self._answer(HTTPStatus.NOT_FOUND, {"error": "There is no such place."})
        elif request is None or not key:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": "A JSON object and a key are needed."})
        elif not _is_amount(request.get("amount_cents")):
            self._answer(HTTPStatus.UNPROCESSABLE_ENTITY, {"error": "Only above nothing."})
        else:
            self._charge(kind, key, request)

    def do_GET(self) -> None:
        """Look a charge up, where the provider can be asked."""
        kind, place, key = self._place()
        if kind == "healthz":
            self._answer(HTTPStatus.OK, {"status": "up"})
        elif kind == "ledger":
            self._answer(HTTPStatus.OK, self.server.ledger.times())
        elif kind != "queryable" or place != "charges":
            self._answer(HTTPStatus.METHOD_NOT_ALLOWED, {"error": "We cannot be asked."})
        elif not self.server.can_be_asked(key):
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": "Our books are closed."})
        elif (act := self.server.ledger.find(kind, key)) is None:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "There is no charge with this key."})
        else:
            self._answer(HTTPStatus.OK, act.answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent: the ledger tells what happened."""

    def _charge(self, kind: str, key: str, request: dict[str, Any]) -> None:
        fault = self.server.fault_of(key, request)
        if fault is Fault.UNAVAILABLE:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, {"error": "Come back later."})
            return
        if kind == "keyed" and not self.server.begin(key):
            self._answer(HTTPStatus.CONFLICT, {"error": "A charge with this key is at work."})
            return
        try:
            status, body = self._act(kind, key, request, fault)
        finally:
            self.server.end(key)
        if fault in (Fault.DROP, Fault.CLOSED):
            if fault is Fault.CLOSED:
                self.server.close_lookup(key)
            self.close_connection = True
        else:
            self._answer(status, body)

    def _act(
        self, kind: str, key: str, request: dict[str, Any], fault: Fault
    ) -> tuple[HTTPStatus, dict[str, Any]]:
        if fault is Fault.LATE:
            time.sleep(self.server.faults.slow_seconds)
        known = self.server.ledger.find(kind, key) if kind == "keyed" else None
        if known is not None and known.request != request:
            return HTTPStatus.BAD_REQUEST, {"error": "This key was used for another charge."}
        act = known or self.server.ledger.act(kind, key, request)
        if fault is Fault.SLOW:
            time.sleep(self.server.faults.slow_seconds)
        return (HTTPStatus.OK if known else HTTPStatus.CREATED), act.answer

    def _place(self) -> tuple[str, str, str]:
        kind, _, rest = self.path.strip("/").partition("/")
        place, _, key = rest.partition("/")
        return kind, place, key

    def _request(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MOST_BODY_BYTES:
            self.close_connection = True  # its body stays unread
            return None
        try:
            value = json.loads(self.rfile.read(int(length)))
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def _answer(self, status: HTTPStatus, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
