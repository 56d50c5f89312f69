"""Acknowledge of an alert."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def test_it_goes_to_the_acknowledged_and_the_badge_counts_one_less(
    operator: Client, filled: Scene
) -> None:
    number = one("SELECT min(id) FROM comboio_alert WHERE state = 'open'")
    count = one("SELECT count(*) FROM comboio_alert WHERE state = 'open'")
    url = f"/alerts/{number}/acknowledge/"
    assert f"({count})" in operator.get("/alerts/").content.decode()
    values = {"seen": looking.seen(operator, "/alerts/", url), "next": "/alerts/"}
    assert operator.post(url, values).status_code == 303
    assert f"({count - 1})" in operator.get("/alerts/").content.decode()
    assert "olga" in operator.get("/alerts/?show=acknowledged").content.decode()
    assert operator.post(url, values).status_code == 409
