"""A worker of a rolling deploy: python -m tests.monitor.cases.rolling NAME TYPE...

It knows a consumer for each of the types that it is given, and drains until its folder says stop.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.contrib.auth.models import Group  # noqa: E402 - models need the set-up above

from monitor.domain.consumer import Consumer  # noqa: E402
from monitor.engine.drain import drain  # noqa: E402
from monitor.engine.life import Life  # noqa: E402
from tests.engine import consuming  # noqa: E402

FOLDER = "ROLLING_FOLDER"
_LOOK_SECONDS = 0.02


def knowing(kind: str) -> AbstractContextManager[Consumer]:
    """The consumer of one type, as both sides of the deploy declare it."""
    return consuming(_work, name=kind, types=(kind,))


def _work(_payload: Any, message: Any) -> None:
    Group.objects.create(name=f"{sys.argv[1]} {message.consumer}/{message.key}")


def main(name: str, kinds: list[str]) -> None:
    """Drain again and again, and say in a file that the first look is over."""
    folder = Path(os.environ[FOLDER])
    with ExitStack() as known:
        for kind in kinds:
            known.enter_context(knowing(kind))
        life = Life("test")
        while not (folder / "stop").exists():
            drain(life, 5.0)
            (folder / name).touch()
            Event().wait(_LOOK_SECONDS)
        life.end()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
