"""Hold and resume of a session."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def _session(filled: Scene) -> int:
    number = factories.message(filled.payments, session="acc-hold")
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number))


def test_it_is_held_with_its_reason_and_resumed(operator: Client, filled: Scene) -> None:
    session = _session(filled)
    page = f"/sessions/{session}/"
    held = operator.post(f"{page}hold/", {"reason": "customer called", "next": page})
    assert (held.status_code, held["Location"]) == (303, page)
    html = operator.get(page).content.decode()
    assert "Held by olga." in html
    assert "customer called" in html
    version = looking.seen(operator, page, f"{page}resume/")
    assert operator.post(f"{page}resume/", {"seen": version}).status_code == 303
    assert "It runs." in operator.get(page).content.decode()


def test_holding_twice_is_refused(operator: Client, filled: Scene) -> None:
    page = f"/sessions/{_session(filled)}/"
    operator.post(f"{page}hold/", {"reason": "once"})
    assert operator.post(f"{page}hold/", {"reason": "twice"}).status_code == 409
