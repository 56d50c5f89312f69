"""A worker process of the tests that dies where a payload says so: python -m tests.crashing."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.contrib.auth.models import Group  # noqa: E402 - models need the set-up above

from monitor.domain.message import Message  # noqa: E402
from monitor.engine.drain import drain  # noqa: E402
from monitor.engine.life import Life  # noqa: E402
from tests.engine import consuming  # noqa: E402


def handler(payload: dict[str, Any], message: Message) -> None:
    """Write a row, then die by SIGKILL if the payload says "kill"."""
    with open(os.environ["STARTS_FILE"], "a", encoding="utf-8") as starts:  # noqa: PTH123
        starts.write(f"{message.key}\n")
    Group.objects.create(name=f"{message.session}/{message.key}")
    if payload.get("kill"):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with consuming(handler):
        life = Life("test")
        moved = drain(life, 20.0)
        life.end()
    sys.stdout.write(f"{moved}\n")
