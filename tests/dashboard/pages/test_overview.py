"""Overview: the verdict first, problems with their buttons, the board."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories, factory_figures
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import run

pytestmark = pytest.mark.django_db


def test_a_good_day_is_a_calm_page(viewer: Client) -> None:
    factories.consumer(name="payments.apply")
    factory_figures.snapshot()
    factory_figures.worker()
    html = viewer.get("/").content.decode()
    assert "All clear. 1 consumer keeps up" in html
    assert 'data-aspect="clear"' in html
    assert "What needs you" not in html


def test_without_a_consumer_it_says_how_to_begin(viewer: Client) -> None:
    html = viewer.get("/").content.decode()
    assert "Nothing runs yet: no consumer is declared." in html
    assert "Write a handler with @consumer" in html


def test_a_held_session_comes_with_the_button_that_mends_it(
    operator: Client, filled: Scene
) -> None:
    html = operator.get("/").content.decode()
    assert "Session acc-4711 of payments.apply is held by its dead head; 14 wait behind." in html
    assert f"Requeue message {filled.dead_head}" in html
    url = f"/dead-letters/{filled.dead_head}/requeue/"
    response = operator.post(url, {"seen": looking.seen(operator, "/", url), "next": "/"})
    assert (response.status_code, response["Location"]) == (303, "/")
    assert looking.state(filled.dead_head) == "ready"


def test_the_verdict_counts_what_is_wrong(viewer: Client, filled: Scene) -> None:
    run("DELETE FROM comboio_gate")
    run("UPDATE comboio_consumer SET held = false")
    html = viewer.get("/").content.decode()
    assert "problems." in html
    assert 'data-aspect="stop"' in html
