"""Every address and every role: strangers go to the login, lookers change nothing."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import URLPattern

from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.django_db
ALL = looking.patterns()
VERBS = [each for each in ALL if looking.is_verb(each)]
PAGES = [each for each in ALL if not looking.is_verb(each)]
# An export gives what the page shows, and changes nothing but the audit, where it stands.
CHANGING = [each for each in VERBS if not str(each.name).endswith("_export")]


def _name(pattern: URLPattern) -> str:
    return str(pattern.name)


def test_there_are_pages_and_verbs_to_try() -> None:
    assert len(PAGES) > 12
    assert len(VERBS) > 10


@pytest.mark.parametrize("pattern", PAGES, ids=_name)
def test_a_stranger_is_sent_to_the_login_and_back(pattern: URLPattern) -> None:
    address = looking.address(pattern)
    response = Client().get(address)
    assert response.status_code == 302
    target = urlsplit(response["Location"])
    assert target.path == "/login/"
    assert parse_qs(target.query)["next"] == [address]


@pytest.mark.parametrize("pattern", VERBS, ids=_name)
def test_a_stranger_who_uses_a_verb_comes_back_to_the_page_he_was_on(pattern: URLPattern) -> None:
    response = Client().post(looking.address(pattern), {"next": "/dead-letters/?consumer=3"})
    assert response.status_code == 302
    target = urlsplit(response["Location"])
    assert (target.path, parse_qs(target.query)["next"]) == (
        "/login/",
        ["/dead-letters/?consumer=3"],
    )


@pytest.mark.parametrize("pattern", ALL, ids=_name)
def test_a_live_piece_without_a_session_loads_the_whole_login_page(pattern: URLPattern) -> None:
    headers = looking.PIECE | {"HX-Current-URL": "http://testserver/sessions/?show=blocked"}
    send = Client().post if looking.is_verb(pattern) else Client().get
    response = send(looking.address(pattern), headers=headers)
    assert response.status_code == 401
    assert response.content == b""
    assert response["HX-Redirect"] == "/login/?next=%2Fsessions%2F%3Fshow%3Dblocked"


@pytest.mark.parametrize("pattern", CHANGING, ids=_name)
def test_a_viewer_can_use_no_verb(pattern: URLPattern, viewer: Client, filled: Scene) -> None:
    before = looking.everything()
    values = {"seen": "1", "reason": "because", "pick": f"{filled.dead}:1", "cause": "x"}
    response = viewer.post(looking.address(pattern, filled), values)
    assert response.status_code == 403
    assert "permission" in response.content.decode()
    assert looking.everything() == before


@pytest.mark.parametrize("pattern", VERBS, ids=_name)
def test_looking_at_a_verb_does_nothing(pattern: URLPattern, senior: Client, filled: Scene) -> None:
    before = looking.everything()
    assert senior.get(looking.address(pattern, filled)).status_code == 405
    assert looking.everything() == before


@pytest.mark.parametrize("pattern", PAGES, ids=_name)
def test_somebody_without_permissions_is_told_whom_to_ask(
    pattern: URLPattern, sign_in: SignIn
) -> None:
    response = sign_in(None).get(looking.address(pattern))
    assert response.status_code == 403
    assert "Ask an administrator" in response.content.decode()


def test_a_viewer_sees_verbs_disabled_with_the_reason(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/messages/{filled.dead}/").content.decode()
    assert "This needs the permission “operate”; ask an administrator." in html
    assert f'action="/dead-letters/{filled.dead}/requeue/"' not in html


def test_a_page_of_somebody_else_is_no_place_to_go_back_to(senior: Client, filled: Scene) -> None:
    url = f"/dead-letters/{filled.dead}/requeue/"
    version = looking.seen(senior, f"/messages/{filled.dead}/", url)
    response = senior.post(url, {"seen": version, "next": "https://example.org/"})
    assert (response.status_code, response["Location"]) == (303, "/")


def test_a_form_without_its_token_is_refused_in_words(sign_in: SignIn, filled: Scene) -> None:
    client = sign_in("senior")
    client.handler.enforce_csrf_checks = True
    response = client.post(f"/dead-letters/{filled.dead}/requeue/", {"seen": "1"})
    assert response.status_code == 403
    assert "Nothing was changed" in response.content.decode()
