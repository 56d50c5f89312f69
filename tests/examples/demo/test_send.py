"""The sender against a small server that answers as told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from examples.demo import payments_set, send
from examples.demo.plan import Planned, Role
from examples.demo.request import Secrets, build, sign
from tests.examples.demo import plans

SECRETS = Secrets(payments="p" * 20, github="g" * 20)
Answer = Callable[[bytes, int], int]  # body and how often it came before → status; 0 hangs up


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.bodies: list[bytes] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            before = self.server.bodies.count(body)
            self.server.bodies.append(body)
        status = self.server.answer(body, before)
        if not status:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""


def _inbox(body: bytes, before: int) -> int:
    return 200 if before else 202


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


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "_PAUSE_SECONDS", 0.001)


def _firsts(count: int) -> list[Planned]:
    deliveries = plans.small().deliveries
    return [each for each in deliveries if each.role is Role.FIRST][:count]


def _send(server: _Server, deliveries: list[Planned]) -> send.Tally:
    return send.send_all(deliveries, url=server.url, secrets=SECRETS, stop=threading.Event())


def test_everything_is_sent_once_and_tallied(serve: Callable[[Answer], _Server]) -> None:
    server = serve(_inbox)
    copies = [e for e in plans.small().deliveries if e.role in (Role.FIRST, Role.COPY)]
    tally = _send(server, copies)
    sent = Counter(server.bodies)
    assert sent == Counter(each.body.encode() for each in copies)
    assert tally.outcomes == {"new": len(sent), "duplicate": len(copies) - len(sent)}
    assert (tally.resent, tally.surprises) == (0, [])


def test_a_lane_keeps_its_order(serve: Callable[[Answer], _Server]) -> None:
    server = serve(_inbox)
    firsts = _firsts(200)
    _send(server, firsts)
    for lane in {each.lane for each in firsts}:
        wanted = [each.body.encode() for each in firsts if each.lane == lane]
        assert [body for body in server.bodies if body in set(wanted)] == wanted


def test_two_that_leave_together_are_on_the_way_at_the_same_moment(
    serve: Callable[[Answer], _Server],
) -> None:
    both_there = threading.Barrier(2, timeout=10)

    def answer(body: bytes, before: int) -> int:
        both_there.wait()  # breaks, and the test with it, when they come one after the other
        return _inbox(body, before)

    server = serve(answer)
    first = _firsts(1)[0]
    tally = _send(server, [first, payments_set.copy_of(first, payments_set.Shape.TOGETHER)])
    assert tally.outcomes == {"new": 1, "duplicate": 1}
    assert not tally.surprises


@pytest.mark.parametrize("status", [503, 502, 0])
def test_a_delivery_without_an_answer_is_sent_again(
    serve: Callable[[Answer], _Server], status: int
) -> None:
    server = serve(lambda _body, before: 202 if before else status)
    tally = _send(server, _firsts(3))
    assert tally.outcomes == {"new": 3}
    assert tally.resent == (3 if status == 0 else 0)  # only without an answer it may have arrived


def test_another_answer_than_the_planned_one_is_a_surprise(
    serve: Callable[[Answer], _Server],
) -> None:
    server = serve(lambda _body, _before: 500)
    tally = _send(server, _firsts(1))
    assert "500 came" in tally.surprises[0]


def test_a_server_that_is_not_there_is_waited_for_and_then_given_up(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[[Answer], _Server]
) -> None:
    monkeypatch.setattr(send, "_PATIENCE_SECONDS", 0.05)
    server = serve(lambda _body, _before: 503)
    with pytest.raises(send.NotAnsweredError):
        _send(server, _firsts(1))


def test_github_signs_the_bytes_and_a_forged_one_signs_them_wrongly() -> None:
    planned = next(e for e in plans.small().deliveries if e.source == "github")
    request = build(planned, SECRETS)
    assert request.path == "/ingest/github"
    assert request.headers["X-Hub-Signature-256"] == sign(SECRETS.github, planned.body.encode())
    forged = next(
        e for e in plans.small().deliveries if e.source == "github" and e.role is Role.REFUSED
    )
    wrong = build(forged, SECRETS).headers["X-Hub-Signature-256"]
    assert wrong != sign(SECRETS.github, forged.body.encode())


def test_secrets_do_not_show_in_a_traceback() -> None:
    assert "pppp" not in repr(SECRETS)
