"""Stages of the fault tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_django

from tests.faults.durable import Durable
from tests.faults.injectors import Stage


@pytest.fixture
def stage(transactional_db: None, tmp_path: Path) -> Iterator[Stage]:
    """Processes and links on the database of the test run."""
    made = Stage(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[Durable]:
    """One durable PostgreSQL for all fault tests that kill it."""
    made = Durable()
    try:
        with django_db_blocker.unblock():
            made.prepare()
        yield made
    finally:
        made.close()


@pytest.fixture
def durable(server: Durable, stage: Stage) -> Iterator[Durable]:
    """The durable server with an empty inbox, to which the stage's processes go, too."""
    with server.fresh():
        yield server
        stage.close()
