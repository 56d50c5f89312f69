"""Requeue of the ticked rows of a list."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.django_db
URL = "/dead-letters/requeue/"


def _boxes(client: Client) -> list[str]:
    html = client.get("/dead-letters/").content.decode()
    return re.findall(r'name="pick"[^>]*value="(\d+:\d+)"', html)


def test_each_ticked_row_is_requeued(operator: Client, filled: Scene) -> None:
    picked = _boxes(operator)[:3]
    response = operator.post(URL, {"pick": picked}, headers=looking.SCRIPTED)
    assert response.status_code == 200
    assert "3 messages requeued." in response.content.decode()
    assert {looking.state(int(one.partition(":")[0])) for one in picked} == {"ready"}


def test_one_refusal_stops_no_other_and_is_told(operator: Client, filled: Scene) -> None:
    picked = _boxes(operator)[:3]
    operator.post(URL, {"pick": picked[:1]})
    html = operator.post(URL, {"pick": picked}, headers=looking.SCRIPTED).content.decode()
    assert "2 messages requeued. 1 was refused: " in html
    assert "requeued by olga" in html


def test_nothing_ticked_is_refused_in_words(operator: Client, filled: Scene) -> None:
    response = operator.post(URL, {}, headers=looking.SCRIPTED)
    assert response.status_code == 409
    assert "No row was selected" in response.content.decode()
