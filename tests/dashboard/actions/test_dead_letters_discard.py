"""Discard of a dead message."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def test_it_is_discarded_with_its_note(senior: Client, filled: Scene) -> None:
    url, page = f"/dead-letters/{filled.dead}/discard/", f"/messages/{filled.dead}/"
    version = looking.seen(senior, page, url)
    response = senior.post(url, {"seen": version, "reason": "sent by hand", "next": page})
    assert response.status_code == 303
    assert looking.state(filled.dead) == "discarded"
    html = senior.get(page).content.decode()
    assert "Discarded by sara" in html
    assert "sent by hand" in html
    assert "Restore to the dead letters" in html


def test_an_operator_may_not(operator: Client, filled: Scene) -> None:
    response = operator.post(f"/dead-letters/{filled.dead}/discard/", {"seen": "1"})
    assert response.status_code == 403
    assert looking.state(filled.dead) == "dead"


def test_discarding_the_dead_head_lets_its_session_go_on(senior: Client, filled: Scene) -> None:
    url = f"/dead-letters/{filled.dead_head}/discard/"
    page = f"/sessions/{filled.held_session}/"
    senior.post(url, {"seen": looking.seen(senior, page, url)})
    count = "SELECT count(*) FROM comboio_gate WHERE session = %(id)s"
    assert one(count, id=filled.held_session) == 0
