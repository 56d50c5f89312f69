"""Reads the frontend's half of PostgreSQL's protocol just far enough to see each COMMIT."""

from __future__ import annotations

import re
import struct

_HEAD = struct.Struct("!i")
_STARTUP = struct.Struct("!ii")
_NEGOTIATIONS = {80877103, 80877104}  # SSL and GSS: the real startup message follows
_COMMITS = {b"COMMIT", b"END", b"COMMIT TRANSACTION", b"COMMIT WORK"}
_ROLLBACKS = {b"ROLLBACK", b"ABORT"}
_LONGEST = 256  # a longer message is no COMMIT

# The server's word that rows were written, and its answer to a COMMIT (it may be a ROLLBACK).
WROTE = re.compile(rb"C\x00\x00\x00.(?:INSERT 0|UPDATE|DELETE) [1-9]", re.DOTALL)
COMMITTED = re.compile(rb"C\x00\x00\x00\x0bCOMMIT\x00")
ANSWERED = re.compile(rb"Z\x00\x00\x00\x05[IE]")  # ready, and no transaction is open


class Frontend:
    """One client's stream. feed() it everything the client sends, in whatever pieces."""

    def __init__(self) -> None:
        self.has_ended = False  # the last piece ended a transaction, either way
        self._is_started = False
        self._tail = b""
        self._skip = 0
        self._prepared: set[bytes] = set()

    def feed(self, piece: bytes) -> bool:
        """Whether a COMMIT is complete with this piece, be it simple or prepared."""
        self.has_ended = False
        if self._skip >= len(piece) and self._skip:
            self._skip -= len(piece)
            return False
        data, at = self._tail + piece[self._skip :], 0
        self._skip, found = 0, False
        while True:
            end, commits = self._message(data, at)
            if end is None:
                self._tail = data[at:]
                return found
            found = found or commits
            at = end
            if at >= len(data):
                self._skip, self._tail = at - len(data), b""
                return found

    def _message(self, data: bytes, at: int) -> tuple[int | None, bool]:
        """The end of the message that begins here, and whether it commits; None: incomplete."""
        left = len(data) - at
        if not self._is_started:
            return self._startup(data, at), False
        if left < 1 + _HEAD.size:
            return None, False
        length = 1 + _HEAD.unpack_from(data, at + 1)[0]
        kind = data[at : at + 1]
        if kind not in b"QPB" or length > _LONGEST:
            return at + length, False
        if left < length:
            return None, False
        return at + length, self._commits(kind, data[at + 5 : at + length])

    def _startup(self, data: bytes, at: int) -> int | None:
        left = len(data) - at
        if left < _STARTUP.size:
            return None
        length, code = _STARTUP.unpack_from(data, at)
        if left < length:
            return None
        self._is_started = code not in _NEGOTIATIONS
        return at + int(length)

    def _commits(self, kind: bytes, body: bytes) -> bool:
        first, _, rest = body.partition(b"\0")
        if kind == b"Q":
            return self._is_commit(first)
        second = rest.partition(b"\0")[0]
        if kind == b"P":  # name, text
            if _word(second) in _COMMITS:
                self._prepared.add(first)
            else:
                self._prepared.discard(first)
            return False
        return second in self._prepared and self._is_commit(b"COMMIT")  # portal, name

    def _is_commit(self, text: bytes) -> bool:
        word = _word(text)
        self.has_ended = self.has_ended or word in _COMMITS or word in _ROLLBACKS
        return word in _COMMITS


def _word(text: bytes) -> bytes:
    return b" ".join(text.strip(b" \r\n\t;").upper().split())
