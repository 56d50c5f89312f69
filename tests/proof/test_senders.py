"""Senders are producers as one should be: what is not answered is sent again under its key."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from proof import history
from proof.profiles import PROFILES
from proof.workload import queue as queues
from proof.workload.batches import batches
from proof.workload.http import NotAcceptedError, Poster
from proof.workload.plan import QUEUE, Plan
from proof.workload.queue import Publisher
from tests.rabbitmq import Node

PLAN = Plan(seed=5, profile=replace(PROFILES["smoke"], messages=320))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))
    monkeypatch.setattr(history, "_pid", 0)
    return tmp_path


class Entrance(ThreadingHTTPServer):
    """Answers as its list of moods says, and then as the inbox does."""

    daemon_threads = True

    def __init__(self, *moods: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.moods = list(moods)
        self.known: dict[str, int] = {}
        self.bodies: list[list[str]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Entrance

    def do_POST(self) -> None:
        events = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append([each["id"] for each in events])
            mood = self.server.moods.pop(0) if self.server.moods else "well"
            items = [self._take(each["id"]) for each in events] if mood != "busy" else []
        if mood == "silent":
            self.close_connection = True
            return
        body = json.dumps({"items": items} if mood != "odd" else {"items": []}).encode()
        self.send_response(503 if mood == "busy" else 202)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _take(self, key: str) -> dict[str, object]:
        outcome = "duplicate" if key in self.server.known else "new"
        number = self.server.known.setdefault(key, len(self.server.known) + 1)
        return {"outcome": outcome, "message": number}


@contextmanager
def entrance(*moods: str) -> Iterator[Entrance]:
    server = Entrance(*moods)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def events(folder: Path) -> list[tuple[str, str]]:
    return [(line["event"], line.get("words", "")) for line in history.in_time(folder)]


def test_a_batch_is_sent_until_it_is_answered(folder: Path) -> None:
    batch = replace(next(batches(PLAN, 1)), twins=[])
    count = len(batch.deliveries)
    with entrance("busy", "silent") as server, closing(Poster(server.url, 1)) as poster:
        poster.send(batch)
    assert len(server.bodies) == 3
    assert server.bodies[0] == server.bodies[1] == server.bodies[2]
    assert events(folder) == [("refused", ""), ("unknown", ""), ("acked", "d" * count)]


def test_twins_leave_beside_their_batch(folder: Path) -> None:
    batch = next(each for each in batches(PLAN, 1) if each.twins)
    with entrance() as server, closing(Poster(server.url, 1)) as poster:
        poster.send(batch)
    assert {len(each) for each in server.bodies} == {len(batch.deliveries), len(batch.twins)}
    assert sum("d" in words for _, words in events(folder)) == 1


def test_an_answer_that_does_not_fit_is_no_acceptance(folder: Path) -> None:
    with (
        entrance("odd") as server,
        closing(Poster(server.url, 1)) as poster,
        pytest.raises(NotAcceptedError),
    ):
        poster.send(next(batches(PLAN, 1)))
    assert not any(event == "acked" for event, _ in events(folder))


def test_what_the_broker_did_not_confirm_is_published_again(rabbitmq: Node, folder: Path) -> None:
    queues.declare(rabbitmq.url)
    several = list(batches(PLAN, 0))
    with closing(Publisher(rabbitmq.url, 0)) as publisher:
        publisher.send(several[0])
        rabbitmq.close_all_connections()
        for batch in several[1:]:
            publisher.send(batch)
    said = events(folder)
    confirmed = sum(words in ("c", "m") for event, words in said if event == "acked")
    assert ("unknown", "") in said
    assert confirmed == sum(len(each.deliveries) + len(each.twins) for each in several)
    with rabbitmq.connect() as connection:
        channel = connection.channel()
        arrived = channel.queue_declare(QUEUE, passive=True).method.message_count
        channel.queue_delete(QUEUE)
    assert arrived >= confirmed
