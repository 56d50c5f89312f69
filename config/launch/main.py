"""What `./manage.py WORD` does: our own commands, else Django's, each in its environment."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence

from config.launch import attach, bootstrap, lint, up
from config.launch.bootstrap import DEVELOPMENT_LOCK, ROOT, RUNTIME_LOCK
from config.launch.errors import LaunchError

# They tell somebody that a message is safe, so its database must keep what it committed.
_ACKNOWLEDGING = {"receive", "clock"}
_USAGE = """\
Comboio's own commands:
  up         start everything: database, broker, web, worker, clock   (./manage.py up --help)
  login      the first login; --reset makes a new password
  test       run the tests; arguments go to pytest
  lint       run every check of the code
  prove      send a load through the product while everything is killed, and count   (--help)
  bootstrap  only install what the other commands need

What the console's buttons do, each with --help, as a person (--as NAME) and with its audit row:
  message    everything about a message (--json, --reveal)
  requeue    dead messages run again: by id, or --cause, --consumer, --session, --all
  replay     a dead message runs again with the corrected payload of a file
  discard    a dead message shall not run; restore takes that back
  hold       a consumer or a session stands still; resume lets it go on

All others are Django's and the product's own:
"""

_FOR_DEVELOPERS = {"test", "lint", "pictures"}  # these need the development packages


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    word = arguments[1] if len(arguments) > 1 else "help"
    try:
        return _run(word, list(arguments))
    except LaunchError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return error.status


def _run(word: str, arguments: list[str]) -> int:
    lock = DEVELOPMENT_LOCK if word in _FOR_DEVELOPERS else RUNTIME_LOCK
    python = bootstrap.ensure(lock=lock)
    if not bootstrap.is_inside(python):
        bootstrap.become(python, arguments)
    own: dict[str, Callable[[list[str]], int]] = {
        "up": up.main,
        "login": _login,
        "test": _test,
        "lint": lint.main,
        "prove": _prove,
        "bootstrap": lambda _rest: 0,
    }
    if word in own:
        return own[word](arguments[2:])
    if word in {"help", "--help", "-h"} and len(arguments) <= 2:  # noqa: PLR2004
        print(_USAGE)  # noqa: T201
    return _django(word, arguments)


def _test(rest: list[str]) -> int:
    os.chdir(ROOT)
    bootstrap.become(bootstrap.Checkout(root=ROOT).python, ["-m", "pytest", *rest])


def _prove(rest: list[str]) -> int:
    os.chdir(ROOT)
    bootstrap.become(bootstrap.Checkout(root=ROOT).python, ["-m", "proof", *rest])


def _login(rest: list[str]) -> int:
    with attach.attached("login"):
        # Only now: the settings are read at this import, and before the bootstrap there is none.
        return int(importlib.import_module("config.launch.login").main(rest))


def _django(word: str, arguments: list[str]) -> int:
    with attach.attached(word):
        management = importlib.import_module("django.core.management")
        if word in _ACKNOWLEDGING:
            importlib.import_module("config.launch.guard").main()
        if word == "migrate" and not {"--help", "-h"} & set(arguments):
            migrating = importlib.import_module("config.launch.migrating")
            migrating.in_turn(lambda: management.execute_from_command_line(arguments))
        else:
            management.execute_from_command_line(arguments)
    return 0
