"""The first login: made once, its password shown once."""

from __future__ import annotations

import argparse
import secrets
import string
from collections.abc import Sequence

import django
from django.contrib.auth import get_user_model

NAME = "admin"
_CHARACTERS = string.ascii_letters + string.digits
_LENGTH = 20


def main(arguments: Sequence[str]) -> int:
    """`./manage.py login [--reset]`."""
    parser = argparse.ArgumentParser(prog="./manage.py login", description=__doc__)
    parser.add_argument("--reset", action="store_true", help="make and show a new password")
    options = parser.parse_args(arguments)
    django.setup()
    if options.reset:
        print(_words(reset()))  # noqa: T201
    else:
        print(  # noqa: T201
            create_first()
            or f"The user is {NAME}. Its password was shown when it was made; "
            "./manage.py login --reset makes a new one."
        )
    return 0


def create_first() -> str:
    """Make the first user when there is none; the words to show, or "" when there was one."""
    if get_user_model().objects.exists():
        return ""
    return _words(reset())


def reset() -> str:
    """Give the first user, made when missing, a new password and return it."""
    password = "".join(secrets.choice(_CHARACTERS) for _ in range(_LENGTH))
    users = get_user_model().objects
    user = users.filter(username=NAME).first() or users.create_superuser(NAME)
    user.is_active = True
    user.set_password(password)
    user.save()
    return password


def _words(password: str) -> str:
    return f"Login: {NAME}   Password: {password}   (shown only now)"
