"""People who may do more and more, each with a signed-in client; and a console full of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.engine import registry
from tests import factories, factory_figures
from tests.dashboard import scene
from tests.dashboard.scene import Scene

PASSWORD = "open sesame, 1001 times"  # noqa: S105 - of people who exist for one test
OWNER = "shop.charge"
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


@pytest.fixture
def lost() -> set[int]:
    """Messages whose charge the provider does not know."""
    return set()


@pytest.fixture
def owner(db: None, lost: set[int]) -> Iterator[int]:
    """A consumer of charges whose provider can be asked, and a worker: OWNER."""
    number = factories.consumer(name=OWNER, when_dead="hold")
    asked = partial(_look_up, lost)
    charge = Effect(name="charge", call=_never, kind="queryable", reconcile=asked)
    registry.add(Consumer(name=OWNER, source="x", handler=_never, external=True, effects=(charge,)))
    factory_figures.worker()
    yield number
    registry.remove(OWNER)


def _look_up(lost: set[int], call: Call) -> Evidence:
    if call.message_id in lost:
        return Evidence(told=Told.NOT_DONE)
    return Evidence(told=Told.DONE, result={"charge": "ch_42"}, reference="ch_42")


def _never(_call: object) -> None:
    raise AssertionError("nothing is called here")
