"""python -m proof.world.cutter FOLDER SERVER: the proxy's own process, one loop over all sockets.

Orders stand in FOLDER/orders, a kind in each line, and SIGUSR1 says that there are more. What was
cut is told in FOLDER/cuts.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import Any

import orjson

from proof import history
from proof.world import wire
from proof.world.proxy import DISARM, SOCKET, Cut

_CHUNK = 262_144
_MOST_WAITING = 1 << 20
_CREDENTIALS = struct.Struct("3i")
_READ, _WRITE = select.EPOLLIN | select.EPOLLRDHUP, select.EPOLLOUT


class _End:
    """One of the two sockets of a link, and what waits to be sent through it."""

    def __init__(self, opened: socket.socket, link: _Link) -> None:
        opened.setblocking(False)
        self.socket = opened
        self.link = link
        self.waiting = bytearray()
        self.is_open = True

    def close(self) -> None:
        self.is_open = False
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class _Link:
    """A client, the server, and what is known about the transaction between them."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.victim = _pid_of(client)
        self.client = _End(client, self)
        self.server = _End(server, self)
        self.frontend = wire.Frontend()
        self.has_written = False
        self.cut: Cut | None = None
        self.answer = b""
        self.hung_at = 0.0


class Cutter:
    """All links, one loop."""

    def __init__(self, folder: Path, server: Path) -> None:
        self._server = str(server)
        self._ends: dict[int, _End] = {}
        self._poll = select.epoll()
        self._armed: deque[Cut] = deque()
        self._orders = (folder / "orders").open("rb")
        self._told = os.open(folder / "cuts", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        signal.signal(signal.SIGUSR1, lambda *_: None)
        self._wake = _signal_pipe()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET))
        self._listener.listen(256)
        self._listener.setblocking(False)

    def run(self) -> None:
        """For ever."""
        self._poll.register(self._listener, select.EPOLLIN)
        self._poll.register(self._wake, select.EPOLLIN)
        while True:
            for descriptor, events in self._poll.poll():
                if descriptor == self._listener.fileno():
                    self._accept()
                elif descriptor == self._wake.fileno():
                    self._take_orders()
                elif (end := self._ends.get(descriptor)) is not None:
                    self._serve(end, events)

    def _accept(self) -> None:
        with suppress(BlockingIOError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self._server)
                except OSError:  # The server is away: so are we.
                    client.close()
                    continue
                link = _Link(client, server)
                for end in (link.client, link.server):
                    self._ends[end.socket.fileno()] = end
                    self._poll.register(end.socket, _READ)

    def _take_orders(self) -> None:
        self._wake.recv(4096)
        for line in self._orders:
            word = line.strip().decode()
            if word == DISARM:
                self._armed.clear()
            else:
                self._armed.append(Cut(word))

    def _serve(self, end: _End, events: int) -> None:
        if events & _WRITE:
            self._flush(end)
        if not end.is_open or not events & ~_WRITE:
            return
        try:
            data = end.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost(end)
        elif end is end.link.client:
            self._from_client(end.link, data)
        else:
            self._from_server(end.link, data)

    def _from_client(self, link: _Link, data: bytes) -> None:
        if link.cut is not None:
            return  # Whatever it says into the hole.
        commits = link.frontend.feed(data)
        if commits and link.has_written and self._armed:
            link.cut = self._armed.popleft()
            if link.cut is Cut.BEFORE:
                self._tell(link, committed=False)
                self._close(link)
                return
            if link.cut is Cut.RACE:
                self._drop(link.client)
        if link.frontend.has_ended:
            link.has_written = False
        self._send(link.server, data)

    def _from_server(self, link: _Link, data: bytes) -> None:
        if link.cut is None:
            if not link.has_written and wire.WROTE.search(data):
                link.has_written = True
            self._send(link.client, data)
        elif not link.hung_at:
            link.answer += data
            if wire.ANSWERED.search(link.answer):
                self._answered(link)

    def _answered(self, link: _Link) -> None:
        """The server has decided; its answer goes nowhere."""
        self._tell(link, committed=wire.COMMITTED.search(link.answer) is not None)
        if link.cut is Cut.HANG:
            link.hung_at = monotonic()
        else:
            self._close(link)

    def _lost(self, end: _End) -> None:
        link = end.link
        if link.cut is Cut.HANG and end is link.server:
            self._drop(end)  # The client must not learn it.
            if not link.hung_at:
                self._tell(link, committed=None)
                link.hung_at = monotonic()
            return
        if link.hung_at:
            seconds = monotonic() - link.hung_at
            self._write("freed", kind=Cut.HANG, seconds=seconds, victim=link.victim)
        elif link.cut is not None and end is link.server:
            self._tell(link, committed=None)
        if link.cut is Cut.RACE and end is link.client:
            return
        if link.cut is not None and end is link.client and not link.hung_at:
            self._armed.appendleft(link.cut)  # It died before it could be cut off: the next one is.
        self._close(link)

    def _send(self, end: _End, data: bytes) -> None:
        if not end.is_open:
            return
        if not end.waiting:
            try:
                sent = end.socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._lost(end)
                return
            if sent == len(data):
                return
            data = data[sent:]
            self._poll.modify(end.socket, _READ | _WRITE)
        end.waiting += data
        if len(end.waiting) > _MOST_WAITING:
            self._listen_to(_other(end), is_wanted=False)

    def _flush(self, end: _End) -> None:
        try:
            sent = end.socket.send(end.waiting)
        except BlockingIOError:
            return
        except OSError:
            self._lost(end)
            return
        del end.waiting[:sent]
        if not end.waiting:
            self._poll.modify(end.socket, _READ)
            self._listen_to(_other(end), is_wanted=True)

    def _listen_to(self, end: _End, *, is_wanted: bool) -> None:
        if end.is_open:
            reading = _READ if is_wanted else 0
            self._poll.modify(end.socket, reading | (_WRITE if end.waiting else 0))

    def _close(self, link: _Link) -> None:
        self._drop(link.client)
        self._drop(link.server)

    def _drop(self, end: _End) -> None:
        if end.is_open:
            del self._ends[end.socket.fileno()]
            self._poll.unregister(end.socket)
            end.close()

    def _tell(self, link: _Link, *, committed: bool | None) -> None:
        self._write("cut", kind=link.cut, committed=committed, victim=link.victim)

    def _write(self, event: str, **fields: Any) -> None:
        line = {"mono_ns": monotonic_ns(), "event": event, **fields}
        os.write(self._told, orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        history.write(
            "nemesis" if event == "cut" else "commit freed", fault="commits_cut", **fields
        )


def _other(end: _End) -> _End:
    link = end.link
    return link.server if end is link.client else link.client


def _pid_of(client: socket.socket) -> int:
    """Whose the other end of the socket is (Linux; elsewhere 0)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0
    return int(_CREDENTIALS.unpack(client.getsockopt(socket.SOL_SOCKET, option, 12))[0])


def _signal_pipe() -> socket.socket:
    """A socket that gets a byte for each signal."""
    ear, mouth = socket.socketpair()
    ear.setblocking(False)
    mouth.setblocking(False)
    signal.set_wakeup_fd(mouth.detach(), warn_on_full_buffer=False)
    return ear


if __name__ == "__main__":
    Cutter(Path(sys.argv[1]), Path(sys.argv[2])).run()
