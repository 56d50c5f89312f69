"""For each way to end a consumer of its own, so that no batch holds two killers."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group

from monitor import Message, Retry, consumer
from monitor.worker import parent

FOLDER = "KILLING_FOLDER"
LIMIT_SECONDS = 0.5
LONGER_SECONDS = 60.0

# The parent's patience with a handler that ignores its limit: shorter, for a quick test.
parent.KILL_AFTER_SECONDS = 0.5


def work(payload: dict[str, Any], message: Message) -> None:
    """Commit one row, unless the payload names a way to end."""
    with (Path(os.environ[FOLDER]) / "starts").open("a", encoding="utf-8") as starts:
        starts.write(f"{message.key}\n")
    Group.objects.create(name=f"killing/{message.key}")
    if payload["ends"]:
        WAYS[message.type]()


def _is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _has_no_memory() -> None:
    raise MemoryError


def _exits() -> None:
    sys.exit(3)


def _leaves() -> None:
    os._exit(0)


def _is_interrupted() -> None:
    raise KeyboardInterrupt


def _sleeps() -> None:
    time.sleep(LONGER_SECONDS)


def _ignores_its_limit() -> None:
    end = time.monotonic() + LONGER_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            time.sleep(LONGER_SECONDS)


WAYS = {
    "killed": _is_killed,
    "no memory": _has_no_memory,
    "exits": _exits,
    "leaves": _leaves,
    "interrupted": _is_interrupted,
    "sleeps": _sleeps,
    "ignores": _ignores_its_limit,
}

for _way in WAYS:
    consumer(
        f"killing.{_way.replace(' ', '_')}",
        source="killing",
        types=(_way,),
        retry=Retry(limit=3, base_seconds=0.01, cap_seconds=0.01),
        timeout_seconds=LIMIT_SECONDS,
    )(work)
