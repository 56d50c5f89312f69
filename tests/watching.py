"""A watch over the database's clock that began some time ago, for tests that cannot wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, time
from unittest import mock

from monitor.engine import calling, verdict
from monitor.engine.steadiness import Steadiness


def watch_of(seconds: float, *, stepped: float = 0.0) -> Steadiness:
    """Began so many seconds ago and has seen no step; since then the clock was put forward."""
    gone = [seconds]
    watch = Steadiness(lambda: monotonic() - gone[0])
    watch.see(lambda: time() - seconds - stepped)
    gone[0] = 0.0
    return watch


@contextmanager
def watched_for(seconds: float, *, stepped: float = 0.0) -> Iterator[None]:
    """The engine of this process has such a watch."""
    watch = watch_of(seconds, stepped=stepped)
    with mock.patch.object(calling, "WATCH", watch), mock.patch.object(verdict, "WATCH", watch):
        yield
