"""A click counts once: the same form sent again is answered as what it was, done."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.test import Client

from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def _keys(client: Client, page: str) -> list[str]:
    return re.findall(r'name="click" value="([^"]+)"', client.get(page).content.decode())


def test_every_form_of_a_verb_has_a_key_of_its_own_each_time(senior: Client, filled: Scene) -> None:
    page = f"/messages/{filled.dead}/"
    found = [*_keys(senior, page), *_keys(senior, page), *_keys(senior, f"{page}correct/")]
    assert len(found) == len(set(found)) == 5
    assert all(UUID(each).version == 4 for each in found)


@pytest.mark.parametrize("headers", [{}, looking.SCRIPTED], ids=["form", "script"])
def test_the_second_of_two_equal_clicks_is_told_as_done(
    headers: dict[str, str], operator: Client, filled: Scene
) -> None:
    page = f"/consumers/{filled.payments}/"
    (key,) = _keys(operator, page)
    values = {"reason": "maintenance", "click": key, "next": page}
    operator.post(f"{page}hold/", values)
    before = looking.everything()
    response = operator.post(f"{page}hold/", values, headers=headers)
    assert response.status_code == (200 if headers else 303)
    html = (response if headers else operator.get(page)).content.decode()
    assert "This click was carried out already" in html
    assert looking.everything() == before


@pytest.mark.parametrize("key", ["", "x", "0" * 31, "\x00"])
def test_a_key_that_is_none_is_ignored(key: str, operator: Client, filled: Scene) -> None:
    page = f"/consumers/{filled.payments}/"
    assert operator.post(f"{page}hold/", {"reason": "x", "click": key}).status_code == 303
    assert one("SELECT count(*) FROM comboio_operation") == 0
