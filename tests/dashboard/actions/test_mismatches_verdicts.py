"""Keep first and accept second."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("verb", "told"), [("keep-first", "kept the first"), ("accept-second", "accepted the second")]
)
def test_the_verdict_is_shown_with_its_reason(
    verb: str, told: str, senior: Client, filled: Scene
) -> None:
    page = f"/mismatches/{filled.mismatch}/"
    url = f"{page}{verb}/"
    values = {"seen": looking.seen(senior, page, url), "reason": "asked billing", "next": page}
    assert senior.post(url, values).status_code == 303
    html = senior.get(page).content.decode()
    assert told in html
    assert "asked billing" in html
    assert senior.post(url, values).status_code == 409


def test_accepting_makes_one_new_message_that_tells_where_it_is_from(
    senior: Client, filled: Scene
) -> None:
    page = f"/mismatches/{filled.mismatch}/"
    version = looking.seen(senior, page, f"{page}accept-second/")
    senior.post(f"{page}accept-second/", {"seen": version, "reason": "correct amount"})
    accepted = one("SELECT accepted_id FROM comboio_mismatch WHERE id = %(id)s", id=filled.mismatch)
    html = senior.get(f"/messages/{accepted}/").content.decode()
    assert "Made by accepting the second payload" in html
    assert page in html


def test_an_operator_may_not_decide(operator: Client, filled: Scene) -> None:
    url = f"/mismatches/{filled.mismatch}/keep-first/"
    assert operator.post(url, {"seen": "1", "reason": "x"}).status_code == 403
