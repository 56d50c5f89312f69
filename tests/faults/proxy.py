"""A link to PostgreSQL that a test can cut, or turn into a black hole, also at a COMMIT."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

_PORT = ".s.PGSQL.5432"
_CHUNK = 65_536


class Mode(Enum):
    """What becomes of the next COMMIT."""

    OPEN = "passes"
    CUT_BEFORE = "the link is cut, the server never sees it"
    CUT_AFTER = "the server commits, the link is cut before its answer"
    HOLE_BEFORE = "it is swallowed, the link stays"
    HOLE_AFTER = "the server commits, its answer is swallowed, the link stays"


class Proxy:
    """Passes on what comes to its own listener; connect gives the other end of each link."""

    def __init__(self, listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
        self.mode = Mode.OPEN
        self.struck = threading.Event()
        self._connect = connect
        self._links: list[tuple[socket.socket, socket.socket]] = []
        self._is_swallowing = False
        self._listener = listener
        self._listener.listen(32)
        threading.Thread(target=self._accept, daemon=True).start()

    @classmethod
    def of_database(cls, folder: Path, server: str) -> Proxy:
        """A link to the server with its socket in that folder, from a folder of its own."""
        folder.mkdir(exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{folder}/{_PORT}")

        def connect() -> socket.socket:
            made = socket.socket(socket.AF_UNIX)
            try:
                made.connect(f"{server}/{_PORT}")
            except OSError:
                made.close()
                raise
            return made

        return cls(listener, connect)

    @classmethod
    def of_port(cls, port: int) -> Proxy:
        """A link to a port of this machine, from a port of its own."""
        listener = socket.create_server(("127.0.0.1", 0))
        return cls(listener, lambda: socket.create_connection(("127.0.0.1", port)))

    @property
    def host(self) -> str:
        """The folder of its socket."""
        return str(Path(self._listener.getsockname()).parent)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listener.getsockname()[1])

    def cut(self) -> None:
        """Every link is gone at once, as if its cable was pulled; new ones may be made."""
        for pair in self._links:
            for each in pair:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)  # close alone would not wake its reader

    def swallow(self) -> None:
        """Nothing comes through any link made so far, in no direction, and nothing is cut."""
        self._is_swallowing = True

    def close(self) -> None:
        """Cut everything and listen no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for pair in self._links:
            for each in pair:
                each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = self._connect()
                except OSError:  # The server is away: so is the link.
                    client.close()
                    continue
                link = _Link(self, client, server)
                self._links.append((client, server))
                for run in (link.up, link.down):
                    threading.Thread(target=run, daemon=True).start()

    @property
    def is_swallowing(self) -> bool:
        """Whether nothing comes through."""
        return self._is_swallowing


class _Link:
    """One client and its server."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._is_hole = False
        self._cuts_at_answer = False

    def up(self) -> None:
        """From the client to the server."""
        self._pump(self._client, self._server, self._passes_up)

    def down(self) -> None:
        """From the server to the client."""
        self._pump(self._server, self._client, self._passes_down)

    def _passes_up(self, data: bytes) -> bool:
        mode = self._proxy.mode
        if mode is Mode.OPEN or not data.startswith(b"Q") or b"COMMIT" not in data[:20]:
            return not self._is_lost()
        self._proxy.mode = Mode.OPEN
        self._is_hole = mode in (Mode.HOLE_BEFORE, Mode.HOLE_AFTER)
        self._cuts_at_answer = mode is Mode.CUT_AFTER
        if mode is Mode.CUT_BEFORE:
            self._cut()
        if mode in (Mode.CUT_BEFORE, Mode.HOLE_BEFORE):
            self._proxy.struck.set()
        return mode in (Mode.CUT_AFTER, Mode.HOLE_AFTER)

    def _passes_down(self, _data: bytes) -> bool:
        if self._cuts_at_answer:
            self._cut()
        is_lost = self._cuts_at_answer or self._is_lost()
        if is_lost:
            self._proxy.struck.set()
        return not is_lost

    def _is_lost(self) -> bool:
        self._is_hole = self._is_hole or self._proxy.is_swallowing
        return self._is_hole

    def _cut(self) -> None:
        for each in (self._client, self._server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _pump(
        self, source: socket.socket, target: socket.socket, passes: Callable[[bytes], bool]
    ) -> None:
        with suppress(OSError):
            while data := source.recv(_CHUNK):
                if passes(data):
                    target.sendall(data)
        # A black hole does not tell the other side that one end is gone.
        if not self._is_hole:
            self._cut()
