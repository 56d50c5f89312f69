"""A COMMIT is seen however it is said, and in whatever pieces it comes."""

from __future__ import annotations

import struct

import pytest

from proof.world.wire import Frontend

STARTUP = struct.pack("!ii", 18, 196608) + b"user\0x\0\0\0\0"[:10]
SSL = struct.pack("!ii", 8, 80877103)


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def query(text: bytes) -> bytes:
    return message(b"Q", text + b"\0")


def parse(name: bytes, text: bytes) -> bytes:
    return message(b"P", name + b"\0" + text + b"\0\0\0")


def bind(name: bytes) -> bytes:
    return message(b"B", b"\0" + name + b"\0\0\0\0\0\0\0")


SYNC = message(b"S", b"")
COMMITS = {
    "simple": query(b"COMMIT"),
    "in small letters": query(b" commit ;"),
    "as END": query(b"END"),
    "unnamed": parse(b"", b"COMMIT") + bind(b"") + SYNC,
    "prepared": parse(b"s1", b"COMMIT") + SYNC + bind(b"s1") + SYNC,
    "after others": query(b"SELECT 1") + message(b"d", b"x" * 9000) + query(b"COMMIT"),
}
OTHERS = {
    "rollback": query(b"ROLLBACK"),
    "in a text": query(b"SELECT 'COMMIT'"),
    "to a savepoint": query(b"RELEASE SAVEPOINT a"),
    "long": query(b"COMMIT" + b" " * 500 + b"AND CHAIN"),
    "in a payload": bind(b"s2") + message(b"d", query(b"COMMIT")),
    "renamed": parse(b"s1", b"COMMIT") + parse(b"s1", b"SELECT 1") + bind(b"s1"),
}


@pytest.mark.parametrize("stream", COMMITS.values(), ids=COMMITS)
@pytest.mark.parametrize("size", [1, 3, 7, 100_000])
def test_a_commit_is_seen_once(stream: bytes, size: int) -> None:
    frontend = Frontend()
    whole = SSL + STARTUP + stream + query(b"SELECT 1")
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert sum(frontend.feed(piece) for piece in pieces) == 1


@pytest.mark.parametrize("stream", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("size", [1, 3, 100_000])
def test_nothing_else_is_taken_for_one(stream: bytes, size: int) -> None:
    frontend = Frontend()
    whole = STARTUP + stream
    assert not any(frontend.feed(whole[at : at + size]) for at in range(0, len(whole), size))
