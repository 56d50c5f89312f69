"""Restore of a discarded message."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def test_it_is_dead_again_and_a_second_click_is_refused(senior: Client, filled: Scene) -> None:
    number = one("SELECT min(id) FROM comboio_discarded")
    url, page = f"/dead-letters/{number}/restore/", f"/messages/{number}/"
    values = {"seen": looking.seen(senior, page, url), "next": page}
    assert senior.post(url, values).status_code == 303
    assert looking.state(number) == "dead"
    assert senior.post(url, values).status_code == 409
