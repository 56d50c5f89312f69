from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ann")


@pytest.fixture
def client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def is_logged_in(client: Client) -> bool:
    return bool(client.get("/login/").status_code == 302)  # To the console: nothing to log in.


def test_a_page_wants_a_login_and_comes_back_after_it() -> None:
    response = Client().get("/")

    assert response.status_code == 302
    assert response.headers["Location"] in {"/login/?next=/", "/login/?next=%2F"}


def test_a_live_piece_without_login_sends_the_whole_page_to_the_login() -> None:
    response = Client().get("/", headers={"HX-Request": "true"})

    assert response.status_code == 401
    assert response.headers["HX-Redirect"].startswith("/login/")


def test_no_page_is_kept_by_browser_or_proxy(client: Client) -> None:
    assert client.get("/").headers["Cache-Control"].startswith("no-store")
    assert "no-store" in Client().get("/login/").headers["Cache-Control"]


def test_every_answer_carries_the_content_policy(client: Client) -> None:
    for path in ("/", "/login/", "/no-such-page/"):
        policy = client.get(path).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy


def test_a_session_ends_after_half_an_hour_without_a_person(client: Client) -> None:
    with time_machine.travel(timezone.now() + timedelta(minutes=31), tick=False):
        assert not is_logged_in(client)


def test_what_a_person_does_keeps_the_session_but_not_beyond_twelve_hours(client: Client) -> None:
    start = timezone.now()
    assert is_logged_in(client)
    for minutes in range(25, 12 * 60, 25):
        with time_machine.travel(start + timedelta(minutes=minutes), tick=False):
            assert is_logged_in(client), minutes

    with time_machine.travel(start + timedelta(hours=12, minutes=1), tick=False):
        assert not is_logged_in(client)


def test_a_page_that_only_refreshes_itself_does_not_keep_the_session(client: Client) -> None:
    start = timezone.now()
    assert is_logged_in(client)
    for minutes in (10, 20, 29):
        with time_machine.travel(start + timedelta(minutes=minutes), tick=False):
            client.get("/login/", headers={"HX-Request": "true"})

    with time_machine.travel(start + timedelta(minutes=31), tick=False):
        assert not is_logged_in(client)
