"""One external consumer that works as its payload says, and writes down each start."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group

from monitor import Message, consumer

LEASE_SECONDS = float(os.environ.get("LONG_LEASE_SECONDS", "10"))
_SAMPLE = 2_000_000


@consumer("long.work", source="long", external=True, lease_seconds=LEASE_SECONDS)
def work(payload: dict[str, Any], message: Message) -> None:
    """Work for so many seconds, then commit one row."""
    with Path(os.environ["STARTS_FILE"]).open("a", encoding="utf-8") as starts:
        starts.write(f"{message.key} {time.time()}\n")
    _WAYS[payload["how"]](float(payload["seconds"]))
    with message.transaction():  # type: ignore[attr-defined]
        Group.objects.create(name=f"long/{message.key}")


def _loop(seconds: float) -> None:
    """Pure Python that never rests."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _one_call(seconds: float) -> None:
    """One call of C code that keeps the interpreter's lock: no other thread of the process runs."""
    begun = time.monotonic()
    sum(range(_SAMPLE))
    pace = _SAMPLE / (time.monotonic() - begun)
    sum(range(int(pace * seconds)))


_WAYS = {"loop": _loop, "one call": _one_call, "sleep": time.sleep}
