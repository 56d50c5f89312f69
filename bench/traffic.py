"""Traffic beside a measurement, in a process of its own: `feed`, or `drain`.

Reads an order a line, and answers each with the seconds that it took. feed: "COUNT PER_SECOND"
(0: as fast as it goes); drain: "COUNT", or "on" for ever.
"""

from __future__ import annotations

import os
import sys
import time

import django

from bench.drain import delivery, runs
from monitor.engine import ingest
from monitor.engine.drain import drain
from monitor.engine.life import Life

SESSIONS = 5_000
_BATCH = 50


def main(role: str) -> int:
    """Do what is ordered until the input ends."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    for line in sys.stdin:
        begun = time.perf_counter()
        if role == "feed":
            count, per_second = line.split()
            _feed(int(count), float(per_second))
        else:
            _drain(line.strip())
        sys.stdout.write(f"{time.perf_counter() - begun:.3f}\n")
        sys.stdout.flush()
    return 0


def _feed(count: int, per_second: float) -> None:
    """Accept so many messages of the bench's consumer."""
    begun, stamp = time.perf_counter(), time.time_ns()
    for first in range(0, count, _BATCH):
        numbers = range(first, min(first + _BATCH, count))
        ingest.receive(
            [delivery("bench.engine", f"{stamp}-{n}", n % SESSIONS + 1) for n in numbers]
        )
        if per_second:
            time.sleep(max(0.0, begun + (first + _BATCH) / per_second - time.perf_counter()))


def _drain(wanted: str) -> None:
    """Run so many messages of the bench's consumer."""
    goal = None if wanted == "on" else runs.total() + int(wanted)
    life = Life("worker")
    while goal is None or runs.total() < goal:
        drain(life, 5.0, lambda: goal is not None and runs.total() >= goal)
        time.sleep(0.02)
    life.end()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
