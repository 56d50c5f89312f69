"""Hold and resume of a consumer."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import rows

pytestmark = pytest.mark.django_db


def test_it_is_held_until_a_time_and_resumed(operator: Client, filled: Scene) -> None:
    page = f"/consumers/{filled.payments}/"
    held = operator.post(f"{page}hold/", {"reason": "maintenance", "minutes": "15"})
    assert held.status_code == 303
    html = operator.get(page).content.decode()
    assert "Held by olga" in html
    assert "maintenance" in html
    (left,) = rows(
        "SELECT held_until - clock_timestamp() BETWEEN interval '14 min' AND interval '15 min'"
        " FROM comboio_consumer WHERE id = %(id)s",
        id=filled.payments,
    )
    assert left == (True,)
    version = looking.seen(operator, page, f"{page}resume/")
    assert operator.post(f"{page}resume/", {"seen": version}).status_code == 303
    assert operator.post(f"{page}resume/", {"seen": version}).status_code == 409
