"""Messages: find, list, tell everything about one."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.dashboard.scene import HOSTILE, Scene

pytestmark = pytest.mark.django_db


def test_a_key_finds_its_message(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/messages/", {"q": "pay-2026-07-4711-"}).content.decode()
    assert f"/messages/{filled.dead_head}/" in html
    whole = viewer.get("/messages/", {"q": "pay-2026-07-4711-5"})
    assert (whole.status_code, whole["Location"]) == (302, f"/messages/{filled.dead_head}/")


def test_an_id_finds_its_message(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/messages/", {"q": str(filled.dead)}).content.decode()
    assert f"/messages/{filled.dead}/" in html


def test_nothing_found_is_not_nothing_yet(viewer: Client, filled: Scene) -> None:
    assert "No match" in viewer.get("/messages/?q=no-such-key").content.decode()
    assert "No match" in viewer.get("/messages/?q=%25").content.decode()


def test_nothing_yet_says_how_to_send_the_first(viewer: Client) -> None:
    assert "POST /ingest/" in looking.Markup(viewer.get("/messages/").content.decode()).text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_message_is_found_and_shown_as_text(
    text: str, senior: Client, filled: Scene
) -> None:
    number = filled.hostile[HOSTILE.index(text)]
    assert f"/messages/{number}/" in senior.get("/messages/", {"q": text}).content.decode()
    markup = looking.Markup(senior.get(f"/messages/{number}/").content.decode())
    assert text.replace("\u202e", "\\u202e") in markup.text
    assert markup.inline == []


def test_a_payload_is_for_those_who_may_reveal_it(sign_in: SignIn, filled: Scene) -> None:
    page = f"/messages/{filled.done}/"
    assert "amount_cents" in sign_in("senior", "sara").get(page).content.decode()
    looker = sign_in("viewer", "victor")
    assert "amount_cents" not in looker.get(page).content.decode()
    assert looker.post(f"{page}payload/").status_code == 403


def test_large_numbers_are_exact(senior: Client) -> None:
    owner = factories.consumer()
    body = '{"n": 12345678901234567890123, "f": 0.1000000000000000055511151231257827}'
    number = factories.message(owner, state="done", payload=body)
    text = looking.Markup(senior.get(f"/messages/{number}/").content.decode()).text
    assert "12345678901234567890123" in text
    assert "0.1000000000000000055511151231257827" in text


def test_a_download_is_never_shown_as_what_it_claims_to_be(senior: Client) -> None:
    owner = factories.consumer()
    number = factories.message(
        owner, payload=b"<script>alert(1)</script>", content_type="text/html", state="done"
    )
    response = senior.post(f"/messages/{number}/payload/")
    assert response.content == b"<script>alert(1)</script>"
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"


def test_the_story_is_told_in_order(senior: Client, filled: Scene) -> None:
    text = looking.Markup(senior.get(f"/messages/{filled.dead_head}/").content.decode()).text
    places = [text.index(word) for word in ("Received", "(attempt 1)", "(attempt 5)")]
    assert places == sorted(places)
    assert "safe: no effect recorded" in text


def test_duplicates_are_listed_with_their_gaps(senior: Client, filled: Scene) -> None:
    text = looking.Markup(senior.get(f"/messages/{filled.done}/").content.decode()).text
    assert "3 duplicates, absorbed" in text
    assert "redelivered by the broker" in text


def test_a_long_payload_is_shown_to_its_first_64_kb_and_says_so(senior: Client) -> None:
    body = '{"head": 1.10, "list": [' + ",".join(["12345"] * 20_000) + '], "tail": "unseen"}'
    number = factories.message(factories.consumer(), state="done", payload=body)
    response = senior.get(f"/messages/{number}/")
    text = looking.Markup(response.content.decode()).text
    assert "Only the first 64 kB are shown; the download has all of it." in text
    assert "1.10" in text
    assert "unseen" not in text
    assert "more stand in the raw text" in text
    assert len(response.content) < 250_000


def test_a_binary_payload_is_shown_as_hexadecimal(senior: Client) -> None:
    number = factories.message(factories.consumer(), state="done", payload=b"\x00\xffGIF89a")
    text = looking.Markup(senior.get(f"/messages/{number}/").content.decode()).text
    assert "Not text; shown as hexadecimal." in text
    assert "00 ff 47 49 46 38 39 61" in text
