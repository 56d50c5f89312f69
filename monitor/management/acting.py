"""What commands that use a verb have in common: who acts, what was done, how a refusal ends."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict
from typing import Any

import orjson
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from monitor.domain.actor import Actor
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.operations import Done
from monitor.operations.actor import actor_of
from monitor.reports.errors import ReportTimeoutError

# 1: what was asked for cannot be; 2: the command line is wrong (Django's own).
REFUSED, FORBIDDEN = 3, 4


class VerbCommand(BaseCommand):
    """A command that uses one verb as a person, with its permissions, and leaves an audit row."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Who acts and why, the same for every verb; then those of the verb itself."""
        self.add_own_arguments(parser)
        parser.add_argument(
            "--as", dest="actor", required=True, metavar="NAME", help="the user who acts"
        )
        parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the audit")
        parser.add_argument("--json", action="store_true", help="say what was done as JSON")

    @abstractmethod
    def add_own_arguments(self, parser: CommandParser) -> None:
        """The arguments of the verb."""

    @abstractmethod
    def use(self, actor: Actor, options: dict[str, Any]) -> Done:
        """Use the verb; its refusals come out as they are."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what was done. CommandError with exit status 3 when refused, 4 when not permitted."""
        actor = person(options["actor"])
        try:
            done = self.use(actor, options)
        except PermissionRefusedError as error:
            raise CommandError(shown(str(error)), returncode=FORBIDDEN) from error
        except RefusedError as error:
            raise CommandError(shown(str(error)), returncode=REFUSED) from error
        except ReportTimeoutError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(as_json(asdict(done)) if options["json"] else shown(done.text))


def person(name: str) -> Actor:
    """The user of that name as an actor. CommandError with exit status 4 when there is none."""
    people = get_user_model()
    user = people._default_manager.filter(**{people.USERNAME_FIELD: name}).first()
    if user is None:
        raise CommandError(f"There is no user {shown(name)}.", returncode=FORBIDDEN)
    return actor_of(user)


def shown(text: str) -> str:
    """A foreign text in one line that can do nothing to a terminal."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "backslashreplace").decode()
        for each in text
    )


def as_json(value: Any) -> str:
    """The value as one line of JSON; what JSON has no word for as text."""
    return orjson.dumps(value, default=str).decode()
