"""People who may do more and more, each with a signed-in client; and a console full of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client

from tests.dashboard import scene
from tests.dashboard.scene import Scene

PASSWORD = "open sesame, 1001 times"  # noqa: S105 - of people who exist for one test
SignIn = Callable[..., Client]


def user(name: str, group: str | None) -> Any:
    """A person of that group; None: of no group, so without any permission."""
    # By name: this file may be imported before the models are.
    made = get_user_model().objects.create_user(name, password=PASSWORD)
    if group is not None:
        made.groups.add(apps.get_model("auth", "Group").objects.get(name=group))
    return made


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """Signs a person of a group in, and gives the client."""

    def signed_in(group: str | None, name: str = "anna") -> Client:
        client = Client()
        client.force_login(user(name, group))
        return client

    return signed_in


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in("viewer", "victor")


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in("operator", "olga")


@pytest.fixture
def senior(sign_in: SignIn) -> Client:
    return sign_in("senior", "sara")


@pytest.fixture
def filled(db: None) -> Scene:
    return scene.fill()
