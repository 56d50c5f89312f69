"""For the tests of handlers: the pytest fixture `inbox`, which runs the real state machine.

Put `pytest_plugins = ["monitor.testing"]` into the conftest.py of a project that uses
pytest-django. This is the only module of Comboio that imports pytest.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from monitor.testing import cleaning
from monitor.testing.inbox import Inbox
from monitor.testing.provider import Provider

__all__ = ["Inbox", "Provider", "emptied_inbox", "inbox"]


@pytest.fixture
def emptied_inbox(transactional_db: None) -> Iterator[None]:
    """For tests that commit without the harness: afterwards the tables are as after migrating."""
    yield
    cleaning.empty_inbox()


@pytest.fixture
def inbox(emptied_inbox: None) -> Iterator[Inbox]:
    """An empty inbox on the test database; it really commits, and is emptied after the test.

    A test whose ordered faults did not all happen fails: it would have proved nothing.
    """
    cleaning.empty_inbox()  # whatever another test left
    own = Inbox()
    yield own
    left = own.faults.left()
    assert not left, f"Ordered, but it never happened: {', '.join(left)}."  # noqa: S101
