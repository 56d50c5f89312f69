"""The test run: its own PostgreSQL, its database, its markers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
from django.db import connection

from config.launch import postgres
from tests import environment
from tests.rabbitmq import queue, rabbitmq

__all__ = ["queue", "rabbitmq"]  # fixtures: one broker for the whole run
pytest_plugins = ["tests.chromium", "monitor.testing"]

_IS_CONTROLLER = "PYTEST_XDIST_WORKER" not in os.environ
_server = environment.Server() if _IS_CONTROLLER else None

# Before anything reads the settings, so this file must be imported first.
if _server is not None:
    _server.export()

_HERE = Path(__file__).parent
_FIRST = [_HERE / each for each in ("journeys", "proof", "examples", "config/launch")]
_MARKERS = {
    "long": "takes minutes; never in CI, listed in docs/testing.md with its last figures",
    "by_hand": "needs something only a person can give; never in CI, listed in docs/testing.md",
}


def pytest_configure(config: pytest.Config) -> None:
    """Start the throw-away PostgreSQL; the workers of xdist inherit its address."""
    for name, meaning in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if _server is not None:
        _server.start()
    django.setup()  # pytest-django does it only when it found the settings module before us.


def pytest_unconfigure() -> None:
    """Stop it and remove its folder."""
    if _server is not None:
        _server.stop()


@pytest.hookimpl(trylast=True)  # after the shuffle
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long files first, so that none is left for one process at the end; no marked test.

    -m asks for marked ones.
    """
    items.sort(key=lambda item: not any(each in item.path.parents for each in _FIRST))
    if config.option.markexpr:
        return
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in _MARKERS)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def _inbox_is_emptied(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that really committed, the next one finds what the migrations left."""
    if not _commits(request):
        yield
        return
    request.getfixturevalue("emptied_inbox")  # Set up before us, so it is torn down after us.
    yield


@pytest.fixture
def database_url(db: None) -> str:
    """The address of the test database, for processes that a test starts."""
    settings = connection.settings_dict
    return postgres.url(Path(settings["HOST"]), settings["NAME"])


def _commits(request: pytest.FixtureRequest) -> bool:
    marker = request.node.get_closest_marker("django_db")
    if marker is not None and marker.kwargs.get("transaction"):
        return True
    return bool(
        {"transactional_db", "live_server", "django_db_reset_sequences"} & set(request.fixturenames)
    )
