"""One consumer that writes, and one that calls a provider which can neither repeat nor be asked."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group

from monitor import Call, Effect, Message, consumer

LEASE_SECONDS = 4.0
HANDLER_SECONDS, CALL_SECONDS = 0.02, 0.2


def _note(name: str, line: str) -> None:
    with (Path(os.environ["RESTART_FOLDER"]) / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def _call(call: Call) -> dict[str, str]:
    """Does it for certain, then takes its time to answer; the one told to waits for the cut."""
    _note("ledger", call.request["key"])
    end = time.monotonic() + (60 if call.request["waits"] else CALL_SECONDS)
    while time.monotonic() < end and not (Path(os.environ["RESTART_FOLDER"]) / "cut").exists():
        time.sleep(0.01)
    _note("answered", call.request["key"])
    return {"key": call.key}


@consumer("restart.book", source="restart", types=("book",))
def book(_payload: Any, message: Message) -> None:
    """Write one row, slowly."""
    time.sleep(HANDLER_SECONDS)
    Group.objects.create(name=f"{message.session}/{message.key}")


@consumer(
    "restart.charge",
    source="restart",
    types=("charge",),
    external=True,
    lease_seconds=LEASE_SECONDS,
    effects=(Effect(name="charge", kind="neither", call=_call),),
)
def charge(payload: dict[str, Any], message: Message) -> None:
    """Charge once, then write one row."""
    message.effect("charge", {"key": message.key, "waits": payload["waits"]})  # type: ignore[attr-defined]
    with message.transaction():  # type: ignore[attr-defined]
        Group.objects.create(name=f"{message.session}/{message.key}")
