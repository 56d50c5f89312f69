"""The inside of a process of a fault test: it dies or stops at the place that the test names."""

from __future__ import annotations

import os
import pkgutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing.connection import Connection
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.db import connection, connections  # noqa: E402 - needs the set-up above
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402
from django.test import Client  # noqa: E402, F401 - once for all processes

from config.launch.process import die_with_parent  # noqa: E402
from tests.faults import world  # noqa: E402

COMMIT = "django.db.backends.base.base:BaseDatabaseWrapper._commit"


class Deed(Enum):
    """What the process does at its place."""

    DIE = "SIGKILL"
    STOP = "SIGSTOP: until the test lets it go on"
    DIE_IN_COMMIT = "SIGKILL with the COMMIT on its way"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """The first call of a function (module:name), or the first that follows a call of another."""

    at: str
    deed: Deed
    is_after: bool = False
    following: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The database that a process works on, and the settings of its sessions there."""

    host: str
    name: str
    session: dict[str, str] = field(default_factory=dict)


def begin(
    place: Place, strikes: tuple[Strike, ...], job: Callable[[], Any], out: Connection
) -> None:
    """The first and last call in the process: what the job returned, or its error, goes out."""
    die_with_parent(signal.SIGKILL)
    settle_at(place)
    for each in strikes:
        _install(each)
    try:
        answer = job()
    except Exception as error:
        answer = error.__class__.__name__
        out.send(answer)
        raise
    out.send(answer)


def settle_at(place: Place) -> None:
    """From now on Django's connections go there; those that are open go on as they are."""
    settings = connections.settings["default"]
    more = "".join(f" -c {name}={value}" for name, value in place.session.items())
    options = {**settings["OPTIONS"], "options": settings["OPTIONS"]["options"] + more}
    for each in (settings, connection.settings_dict):
        each.update(HOST=place.host, NAME=place.name, PORT="", OPTIONS=options)


def _install(strike: Strike) -> None:
    armed = [not strike.following]
    if strike.following:
        _wrap(strike.following, lambda: armed.__setitem__(0, True))

    def act() -> None:
        if armed[0]:
            armed[0] = False
            _DEEDS[strike.deed]()

    _wrap(strike.at, act, is_after=strike.is_after)


def _wrap(place: str, act: Callable[[], None], *, is_after: bool = False) -> None:
    owner_name, _, name = place.replace(":", ".").rpartition(".")
    owner = pkgutil.resolve_name(owner_name)
    plain = getattr(owner, name)

    def wrapped(*values: Any, **named: Any) -> Any:
        if not is_after:
            act()
        result = plain(*values, **named)
        if is_after:
            act()
        return result

    setattr(owner, name, wrapped)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _die_in_commit() -> None:
    raw: Any = connection.connection
    raw.pgconn.send_query(b"COMMIT")
    raw.pgconn.flush()
    _die()


_DEEDS = {Deed.DIE: _die, Deed.STOP: _stop, Deed.DIE_IN_COMMIT: _die_in_commit}
_ = BaseDatabaseWrapper, world
