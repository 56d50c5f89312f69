"""How commands find what they are told to act on, and the version that a verb names as seen."""

from __future__ import annotations

from argparse import ArgumentTypeError

from django.core.management.base import CommandError

from monitor.reports import consumers, messages, sessions
from monitor.reports.message_values import Detail
from monitor.reports.page import FIRST_ID


def row_id(text: str) -> int:
    """A type of arguments: the id of a row."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) <= FIRST_ID:
        raise ArgumentTypeError(f"{text!r} is no id")
    return int(text)


def session_id(text: str) -> int:
    """The id of a session. CommandError when the text is none."""
    try:
        return row_id(text)
    except ArgumentTypeError as error:
        raise CommandError(f"{error}; the page of the session shows its id.") from error


def message(message_id: int) -> Detail:
    """The message of that id. CommandError when there is none."""
    found = messages.detail(message_id)
    if found is None:
        raise CommandError(f"There is no message {message_id}.")
    return found


def consumer_id(name: str) -> int:
    """The id of the consumer that is called so, or has this id. CommandError when there is none."""
    known = {called: number for number, called in consumers.names()}
    number = known.get(name)
    if number is None and name.isascii() and name.isdigit() and int(name[:6]) in known.values():
        number = int(name)
    if number is None:
        raise CommandError(f"There is no consumer {name!r}. Known: {', '.join(sorted(known))}.")
    return number


def consumer_version(number: int) -> int:
    """The version of a consumer that resume names."""
    found = consumers.detail(number)
    if found is None:
        raise CommandError(f"There is no consumer {number}.")
    return found.row.version


def session_version(session_id: int) -> int:
    """The version of what keeps a session; 0 when nothing does. CommandError: no such session."""
    found = sessions.detail(session_id)
    if found is None:
        raise CommandError(f"There is no session {session_id}.")
    return found.gate.version if found.gate else 0
