"""Requeue of one dead message, by a page's form and by its script."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.django_db


def _form(client: Client, scene: Scene) -> tuple[str, dict[str, str]]:
    url, page = f"/dead-letters/{scene.dead}/requeue/", f"/messages/{scene.dead}/"
    return url, {"seen": looking.seen(client, page, url), "next": page}


def test_the_form_works_without_script(operator: Client, filled: Scene) -> None:
    url, values = _form(operator, filled)
    response = operator.post(url, values)
    assert (response.status_code, response["Location"]) == (303, values["next"])
    assert looking.state(filled.dead) == "ready"
    html = operator.get(values["next"]).content.decode()
    assert f"Message {filled.dead} is ready again" in html


def test_the_script_gets_a_toast_and_reads_the_page_again(operator: Client, filled: Scene) -> None:
    url, values = _form(operator, filled)
    response = operator.post(url, values, headers=looking.SCRIPTED)
    assert response.status_code == 200
    assert 'class="toast" data-tone="go"' in response.content.decode()
    assert json.loads(response["HX-Trigger"]) == {"app:tick": {"target": "body"}}


def test_the_second_click_is_refused_and_says_who_did_it(operator: Client, filled: Scene) -> None:
    url, values = _form(operator, filled)
    operator.post(url, values)
    before = looking.everything()
    scripted = operator.post(url, values, headers=looking.SCRIPTED)
    plain = operator.post(url, values)
    for response in (scripted, plain):
        assert response.status_code == 409
        assert "requeued by olga" in response.content.decode()
    assert 'data-tone="stop"' in scripted.content.decode()
    assert f'href="{values["next"]}"' in plain.content.decode()
    assert looking.everything() == before


def test_what_is_not_dead_is_refused(operator: Client, filled: Scene) -> None:
    response = operator.post(f"/dead-letters/{filled.done}/requeue/", {"seen": "1"})
    assert response.status_code == 409


@pytest.mark.parametrize("seen", ["", "x", "0", "-1", "9" * 30])
def test_a_form_without_a_seen_version_is_refused(
    seen: str, operator: Client, filled: Scene
) -> None:
    response = operator.post(f"/dead-letters/{filled.dead}/requeue/", {"seen": seen})
    assert response.status_code == 409
    assert looking.state(filled.dead) == "dead"


def test_the_head_that_holds_its_session_lets_it_run(operator: Client, filled: Scene) -> None:
    url = f"/dead-letters/{filled.dead_head}/requeue/"
    page = f"/sessions/{filled.held_session}/"
    operator.post(url, {"seen": looking.seen(operator, page, url), "next": page})
    html = operator.get(page).content.decode()
    assert "Held by its dead head" not in html
    assert "It runs." in html
