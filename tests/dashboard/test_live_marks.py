"""A live piece that is as it was is not drawn again, and one that is not always is."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories
from tests.dashboard.conftest import SignIn
from tests.dashboard.looking import PIECE
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.django_db
LISTS = (
    *("/alerts/", "/dead-letters/", "/mismatches/", "/reconcile/", "/sessions/", "/messages/"),
    *("/requeues/", "/audit/"),
)


def _marked(client: Client, address: str, mark: str = "") -> tuple[int, str]:
    headers = {**PIECE, "If-None-Match": mark} if mark else PIECE
    response = client.get(address, headers=headers)
    if response.status_code == 304:
        assert response.content == b""
    assert "no-store" in response["Cache-Control"]
    return response.status_code, response["ETag"]


@pytest.mark.parametrize("address", LISTS)
def test_what_has_not_changed_is_not_sent_again(
    address: str, operator: Client, filled: Scene
) -> None:
    status, mark = _marked(operator, address)
    assert status == 200
    assert _marked(operator, address, mark) == (304, mark)


def test_what_has_changed_comes_whole(operator: Client, filled: Scene) -> None:
    _status, mark = _marked(operator, "/dead-letters/")
    factories.message(filled.payments, state="dead", error="New: error")
    status, changed = _marked(operator, "/dead-letters/", mark)
    assert status == 200
    assert changed != mark


def test_another_person_and_another_zone_have_pieces_of_their_own(
    operator: Client, viewer: Client, filled: Scene
) -> None:
    _status, mark = _marked(operator, "/dead-letters/")
    assert _marked(viewer, "/dead-letters/", mark)[0] == 200
    operator.cookies["tz"] = "Europe/Lisbon"
    assert _marked(operator, "/dead-letters/", mark)[0] == 200


def test_a_whole_page_is_always_drawn(sign_in: SignIn, filled: Scene) -> None:
    response = sign_in("viewer").get("/dead-letters/", headers={"If-None-Match": "*"})
    assert response.status_code == 200
    assert "ETag" not in response
