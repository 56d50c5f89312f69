"""The ready-made HTTP effect against a real server on loopback: what each ending may claim."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from monitor import Call, Effect, EffectRefused, NotDone, Told, http_effect
from monitor.domain.errors import ConfigurationError
from monitor.engine import http_call
from monitor.engine.http_call import OutcomeUnknownError

CALL = Call(
    key="comboio-7-charge-a1b2c3",
    request={"b": 1, "a": [2, "ü"]},
    message_id=7,
    traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
)
QUICK = 0.3
Answer = Callable[["_Handler"], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/charges"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers.items()), body))
        self.server.answer(self)

    do_GET = do_POST = _take  # noqa: N815 - the names that http.server looks for

    def raw(self, text: bytes) -> None:
        """Send these bytes as they are."""
        with contextlib.suppress(OSError):  # a client that gave up
            self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""


def status(code: int, body: bytes = b"", more: str = "") -> Answer:
    head = f"HTTP/1.1 {code} \r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return lambda handler: handler.raw(head.encode() + body)


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], _Server]]:
    """Starts a server that answers as told."""
    servers: list[_Server] = []

    def start(answer: Answer) -> _Server:
        server = _Server(answer)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


Serve = Callable[[Answer], _Server]


def effect(server: _Server, **policy: Any) -> Effect:
    return http_effect("charge", server.url, **{"timeout_seconds": QUICK, **policy})


def asked(server: _Server) -> Any:
    found = effect(server, ask=server.url + "/{key}", kind="queryable").reconcile
    assert found is not None
    return found(CALL)


def test_key_trace_and_bytes_go_out_and_the_answer_comes_back(serve: Serve) -> None:
    server = serve(status(201, b'{"id": "ch_1"}'))
    first = effect(server, headers={"Authorization": "Bearer t"}).call(CALL)
    # As the database gives the request back: the members in another order.
    again = Call(key=CALL.key, request={"a": [2, "ü"], "b": 1}, message_id=7)
    effect(server).call(again)
    assert first == {"id": "ch_1"}
    (method, path, headers, body), (_, _, later, same) = server.seen
    assert (method, path, body) == ("POST", "/charges", '{"a":[2,"ü"],"b":1}'.encode())
    assert same == body
    assert headers["Idempotency-Key"] == later["Idempotency-Key"] == CALL.key
    assert headers["traceparent"] == CALL.traceparent
    assert "traceparent" not in later
    assert (headers["Content-Type"], headers["Authorization"]) == ("application/json", "Bearer t")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *((code, NotDone) for code in (408, 425, 429, 503)),
        *((code, EffectRefused) for code in (400, 401, 402, 404, 410, 422)),
        *((code, OutcomeUnknownError) for code in (409, 500, 502, 504)),
    ],
)
def test_the_status_says_what_may_be_done_next(
    serve: Serve, code: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"HTTP {code}"):
        effect(serve(status(code, b"the reason"))).call(CALL)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(serve: Serve, code: int) -> None:
    elsewhere = serve(status(200))
    server = serve(status(code, more=f"Location: {elsewhere.url}\r\n"))
    with pytest.raises(OutcomeUnknownError):
        effect(server).call(CALL)
    assert elsewhere.seen == []


@pytest.mark.parametrize(
    "ending",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"hello\r\n",
    ],
)
def test_a_connection_cut_after_the_request_leaves_the_outcome_unknown(
    serve: Serve, ending: bytes
) -> None:
    with pytest.raises(OutcomeUnknownError):
        effect(serve(lambda handler: handler.raw(ending))).call(CALL)


def test_a_provider_that_drips_is_cut_off_at_the_deadline(serve: Serve) -> None:
    gone = threading.Event()

    def drip(handler: _Handler) -> None:
        handler.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not gone.wait(0.02):
            handler.raw(b".")

    begun = time.monotonic()
    with pytest.raises(OutcomeUnknownError):
        effect(serve(drip)).call(CALL)
    gone.set()
    assert QUICK <= time.monotonic() - begun < QUICK + 2


def test_a_silent_provider_leaves_the_outcome_unknown(serve: Serve) -> None:
    gone = threading.Event()

    def silence(_handler: _Handler) -> None:
        gone.wait(5)

    with pytest.raises(OutcomeUnknownError):
        effect(serve(silence)).call(CALL)
    gone.set()


def test_a_refused_connection_did_nothing() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        with pytest.raises(NotDone, match="ConnectionRefusedError"):
            http_effect("charge", url).call(CALL)


def test_a_name_that_is_not_known_did_nothing() -> None:
    with pytest.raises(NotDone):
        http_effect("charge", "http://nowhere.invalid/").call(CALL)


def test_a_request_that_cannot_be_made_up_did_nothing(serve: Serve) -> None:
    server = serve(status(200))
    with pytest.raises(NotDone, match="header"):
        effect(server, headers={"X-Two": "a\r\nX-Lines: b"}).call(CALL)

    def missing() -> str:
        raise KeyError("PROVIDER_URL")

    with pytest.raises(NotDone, match="PROVIDER_URL"):
        http_effect("charge", missing).call(CALL)
    assert server.seen == []


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"", None),
        (b"thanks", "thanks"),
        (b'"nul \\u0000"', '"nul \\u0000"'),
        (b"nul \0 \xff", "nul � �"),
        (b"[" * 600 + b"]" * 600, "[" * 600 + "]" * 600),
        (b" " * (http_call.MOST_ANSWER_BYTES + 1), None),
    ],
    ids=["empty", "text", "nul in JSON", "bytes", "deep", "large"],
)
def test_any_2xx_answer_is_done_and_becomes_what_the_database_can_keep(
    serve: Serve, body: bytes, kept: Any
) -> None:
    result = effect(serve(status(200, body)), timeout_seconds=5).call(CALL)
    assert result == kept
    assert json.loads(json.dumps(result)) == kept


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (200, Told.DONE),
        (404, Told.NOT_DONE),
        (410, Told.NOT_DONE),
        *((code, Told.CANNOT_TELL) for code in (202, 302, 401, 409, 429, 500, 503)),
    ],
)
def test_what_a_look_up_proves(serve: Serve, code: int, told: Told) -> None:
    server = serve(status(code, b'{"id": "ch_1"}'))
    evidence = asked(server)
    assert evidence.told == told
    assert evidence.detail["answer"].startswith(f"HTTP {code}")
    assert evidence.result == ({"id": "ch_1"} if told == Told.DONE else None)
    assert evidence.reference == ("ch_1" if told == Told.DONE else "")
    method, path, headers, body = server.seen[0]
    assert (method, path, body) == ("GET", f"/charges/{CALL.key}", b"")
    assert "Idempotency-Key" not in headers


def test_a_look_up_without_an_answer_cannot_tell(serve: Serve) -> None:
    evidence = asked(serve(lambda _handler: None))
    assert (evidence.told, "No answer" in evidence.detail["error"]) == (Told.CANNOT_TELL, True)


@pytest.mark.parametrize(
    ("url", "more"),
    [
        ("ftp://host/", {}),
        ("/charges", {}),
        ("http://user:word@host/", {}),
        ("http://host/", {"timeout_seconds": 0}),
        ("http://host/", {"ask": "http://host/charges"}),
        ("http://host/", {"kind": "queryable"}),
    ],
)
def test_a_senseless_declaration_is_refused(url: str, more: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        http_effect("charge", url, **more)
