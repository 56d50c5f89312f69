"""Requeue of all dead messages of a cause."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests import factories
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db
URL = "/dead-letters/cause/requeue/"


def _form(client: Client, count: int) -> dict[str, str]:
    html = client.get("/dead-letters/").content.decode()
    form = re.search(
        rf'name="seen" value="(\d+)">[^>]*name="next"[^>]*>[^>]*name="cause" value="([^"]*)"[^>]*>'
        rf"(?:(?!</form>).)*Requeue {count} messages",
        html,
        re.DOTALL,
    )
    assert form
    return {"seen": form[1], "cause": form[2].replace("&#x27;", "'"), "next": "/dead-letters/"}


def test_the_button_says_how_many_and_touches_those(operator: Client, filled: Scene) -> None:
    values = _form(operator, 14)
    response = operator.post(URL, values, headers=looking.SCRIPTED)
    assert response.status_code == 200
    assert "14" in response.content.decode()
    left = "SELECT count(*) FROM comboio_dead WHERE cause = %(cause)s"
    assert one(left, cause=values["cause"]) == 0


def test_what_died_after_the_page_was_read_stays_out(operator: Client, filled: Scene) -> None:
    values = _form(operator, 14)
    late = factories.message(
        filled.payments, state="dead", session="late", cause=values["cause"], error="later: again"
    )
    operator.post(URL, values)
    assert looking.state(late) == "dead"
    assert looking.state(filled.dead) == "ready"


def test_the_second_click_changes_nothing(operator: Client, filled: Scene) -> None:
    values = _form(operator, 14)
    operator.post(URL, values)
    before = looking.everything()
    assert operator.post(URL, values).status_code in (303, 409)
    assert looking.everything() == before
