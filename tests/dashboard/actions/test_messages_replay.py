"""Replay of a dead message with a corrected text: what was typed is never lost by a refusal."""

from __future__ import annotations

import html as entities
import re

import pytest
from django.test import Client

from tests import factories, factory_order
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.dashboard.scene import Scene
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db


def _form(client: Client, message_id: int) -> dict[str, str]:
    """What a browser would send when nothing was typed."""
    html = client.get(f"/messages/{message_id}/correct/").content.decode()
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html)
    box = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    assert box
    text = entities.unescape(box[1])
    return dict(found) | {"text": re.sub(r"\r?\n", "\r\n", text), "reason": "cents"}


def test_a_corrected_text_runs_and_the_diff_is_shown(senior: Client, filled: Scene) -> None:
    values = _form(senior, filled.corrected)
    assert '"amount_cents": 1205' in values["text"]
    values["text"] = values["text"].replace("1205", "99")
    response = senior.post(f"/messages/{filled.corrected}/replay/", values, follow=True)
    text = re.sub(r"\s+", " ", looking.Markup(response.content.decode()).text)
    assert "runs again, corrected (revision 3)" in text
    assert "Revision 3, corrected by sara" in text
    assert "Corrected and replayed by sara" in text
    assert "amount_cents \N{MINUS SIGN} 1250 + 99" in text
    assert looking.state(filled.corrected) == "ready"


def test_a_text_that_is_refused_comes_back_with_its_reason(senior: Client, filled: Scene) -> None:
    values = _form(senior, filled.corrected) | {"text": "{<b>no json", "raw": ""}
    before = looking.everything()
    response = senior.post(f"/messages/{filled.corrected}/replay/", values)
    html = response.content.decode()
    assert response.status_code == 422
    assert "{&lt;b&gt;no json</textarea>" in html
    assert 'value="cents"' in html
    assert "The text is no JSON" in html
    assert f'hx-get="/messages/{filled.corrected}/correct/"' in html
    assert looking.everything() == before
    assert senior.post(f"/messages/{filled.corrected}/replay/", values | {"raw": "1"}).status_code


def test_the_faster_colleagues_text_and_name_stand_beside_ones_own(
    senior: Client, filled: Scene
) -> None:
    values = _form(senior, filled.corrected) | {"text": '{"mine": 1}'}
    factory_order.revision(filled.corrected, '{"theirs": 2}', number=3, actor="olga")
    run(
        "UPDATE comboio_dead SET version = nextval('comboio_version') WHERE id = %(i)s",
        i=filled.corrected,
    )
    response = senior.post(f"/messages/{filled.corrected}/replay/", values)
    html = entities.unescape(response.content.decode())
    assert response.status_code == 409
    assert '{"mine": 1}</textarea>' in html
    assert "The text of olga" in html
    assert '{"theirs": 2}</pre>' in html


def test_what_a_colleague_already_replayed_is_said_and_the_text_is_kept(
    sign_in: SignIn, filled: Scene
) -> None:
    sara, olaf = sign_in("senior", "sara"), sign_in("senior", "olaf")
    mine = _form(sara, filled.corrected) | {"text": '{"mine": 1}'}
    theirs = _form(olaf, filled.corrected) | {"text": '{"theirs": 2}'}
    url = f"/messages/{filled.corrected}/replay/"
    assert olaf.post(url, theirs).status_code == 303
    response = sara.post(url, mine)
    html = entities.unescape(response.content.decode())
    assert response.status_code == 409
    assert '{"mine": 1}</textarea>' in html
    assert "The text of olaf" in html
    assert "is dead no more" in html


@pytest.mark.parametrize("stored", ["a\r\nb\r\n", "\na\nb\n", "plain"])
def test_line_ends_stay_as_they_were(stored: str, senior: Client) -> None:
    owner = factories.consumer()
    dead = factories.message(
        owner, state="dead", payload=stored.encode(), content_type="text/plain"
    )
    values = _form(senior, dead)
    values["text"] += "X"
    assert senior.post(f"/messages/{dead}/replay/", values).status_code == 303
    assert rows("SELECT payload FROM comboio_revision") == [((stored + "X").encode(),)]


@pytest.mark.parametrize(
    ("payload", "told"), [(b"x" * 65_537, "too large"), (b"\x00\xff", "not text")]
)
def test_what_cannot_be_edited_here_is_said(payload: bytes, told: str, senior: Client) -> None:
    dead = factories.message(factories.consumer(), state="dead", payload=payload)
    html = senior.get(f"/messages/{dead}/correct/").content.decode()
    assert told in html
    assert "<textarea" not in html


def test_an_operator_is_told_what_it_needs_and_sees_no_text(
    operator: Client, filled: Scene
) -> None:
    html = operator.get(f"/messages/{filled.corrected}/correct/").content.decode()
    assert "<textarea" not in html
    assert "1205" not in html
    assert "ask an administrator" in html


def test_a_script_gets_a_toast(senior: Client, filled: Scene) -> None:
    values = _form(senior, filled.corrected) | {"text": "{"}
    url = f"/messages/{filled.corrected}/replay/"
    response = senior.post(url, values, headers=looking.SCRIPTED)
    assert response.status_code == 422
    assert 'class="toast" data-tone="stop"' in response.content.decode()
    assert one("SELECT count(*) FROM comboio_revision") == 1
