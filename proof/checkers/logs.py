"""The processes complained only about what the run did to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from proof.checkers.facts import Facts, Violation

_ERROR = re.compile(
    r"^([A-Za-z_][\w.]*(?:Error|Exception|Shutdown|Failure|Timeout|Away|Lost)\w*)\b"
)
# The database, the broker or the web was away, or a connection was cut: that is the run's doing.
_KNOWN = re.compile(
    r"OperationalError|InterfaceError|AdminShutdown|CrashShutdown|CannotConnectNow|"
    r"ConnectionTimeout|PoolTimeout|ConnectionFailure|ConnectionDoesNotExist|IdleInTransaction|"
    r"DiskFull|LockNotAvailable|QueryCanceled|ConnectionReset|ConnectionRefused|ConnectionAborted|"
    r"BrokenPipe|ConnectionForced|RecoverableConnectionError|UnexpectedFrame|amqp\.|kombu\.|"
    r"WorkerLostError|SourceAwayError|TimeoutError|DeadlockDetected"
)


def check(facts: Facts) -> Iterator[Violation]:
    """Tracebacks that end in an error nobody knows."""
    for path in sorted((facts.folder / "logs").glob("*.log")):
        for error, line in tracebacks(path):
            if not _KNOWN.search(error):
                yield Violation(kind="other", text=f"{path.name}: {line}")


def tracebacks(path: Path) -> Iterator[tuple[str, str]]:
    """The class and the last line of every traceback in a log."""
    is_inside = False
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("Traceback (most recent call last)"):
                is_inside = True
            elif is_inside and not line.startswith((" ", "\t")):
                found = _ERROR.match(line) or re.match(r"([\w.]+)(?::|$)", line)
                if found:
                    yield found.group(1), line.strip()[:300]
                is_inside = False
