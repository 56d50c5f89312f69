"""Reveal: one look at the whole, written down before it is shown, and kept nowhere else."""

from __future__ import annotations

import html as entities
import re
from typing import Any

import pytest
from django.test import Client

from tests import factories, factory_effects
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.rows import one, rows

pytestmark = pytest.mark.django_db
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests
BODY = {"password": SECRET, "n": 1}


def _message(**more: Any) -> int:
    values = {"state": "dead", "payload": BODY, "headers": {"authorization": SECRET}}
    return factories.message(factories.consumer(), **{**values, **more})


def _acts() -> list[tuple[Any, ...]]:
    return rows(
        "SELECT actor, object_kind, object_id, reason, detail->>'how' FROM comboio_audit"
        " WHERE verb = 'reveal' ORDER BY id"
    )


def test_a_look_shows_all_of_it_and_stands_in_the_audit_with_its_reason(operator: Client) -> None:
    number = _message()
    page = operator.get(f"/messages/{number}/").content.decode()
    assert SECRET not in page
    assert f'action="/messages/{number}/reveal/"' in page
    response = operator.post(f"/messages/{number}/reveal/", {"reason": "ticket 7"})
    text = looking.Markup(response.content.decode()).text
    assert response.status_code == 200
    assert text.count(SECRET) >= 2  # the payload and the header
    assert "redacted:" not in text
    assert _acts() == [("olga", "message", number, "ticket 7", "shown")]


def test_it_is_neither_kept_nor_read_again(operator: Client) -> None:
    number = _message()
    response = operator.post(f"/messages/{number}/reveal/")
    assert "no-store" in response["Cache-Control"]
    assert set(response.cookies) <= {"csrf", "session"}
    html = response.content.decode()
    assert 'id="live"' not in html
    assert looking.Markup(html).inline == []
    assert SECRET not in operator.get(f"/messages/{number}/").content.decode()
    operator.post(f"/messages/{number}/reveal/")
    assert len(_acts()) == 2  # each look is an act


def test_the_timeline_tells_who_looked(operator: Client) -> None:
    number = _message()
    operator.post(f"/messages/{number}/reveal/", {"reason": "ticket 7"})
    operator.post(f"/messages/{number}/payload/")
    text = looking.Markup(operator.get(f"/messages/{number}/").content.decode()).text
    assert text.count("Payload revealed") == 2
    assert "ticket 7" in text
    assert "as a download" in text


@pytest.mark.parametrize("what", ["reveal", "payload"])
def test_what_cannot_be_written_down_is_not_shown(
    what: str, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = _message()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no audit, no look")

    monkeypatch.setattr("monitor.store.audit.write", fail)
    with pytest.raises(RuntimeError):
        operator.post(f"/messages/{number}/{what}/")


@pytest.mark.parametrize("what", ["reveal", "payload"])
def test_who_may_not_gets_nothing(what: str, sign_in: SignIn) -> None:
    number = _message()
    response = sign_in("viewer", "victor").post(f"/messages/{number}/{what}/", {"edit": ""})
    assert response.status_code == 403
    assert SECRET not in response.content.decode()
    assert _acts() == []


def test_a_reason_that_cannot_be_kept_is_refused(operator: Client) -> None:
    number = _message()
    response = operator.post(f"/messages/{number}/reveal/", {"reason": "x" * 1_001})
    assert response.status_code == 409
    assert SECRET not in response.content.decode()
    assert operator.post(f"/messages/{number + 1}/reveal/").status_code == 404
    assert operator.post("/mismatches/7/reveal/").status_code == 404
    assert operator.post("/reconcile/7/reveal/").status_code == 404


def test_a_download_is_a_look_and_only_by_post(operator: Client) -> None:
    number = _message()
    assert operator.get(f"/messages/{number}/payload/").status_code == 405
    response = operator.post(f"/messages/{number}/payload/")
    assert SECRET.encode() in response.content
    assert "no-store" in response["Cache-Control"]
    assert _acts() == [("olga", "message", number, "", "downloaded")]


def test_both_payloads_of_a_mismatch_and_an_effect_are_revealed(operator: Client) -> None:
    number = _message()
    mismatch = factories.mismatch(number, payload=BODY | {"password": "another-secret"})
    effect = factory_effects.effect(number, request=BODY, result={"token": "t-1234"})
    factory_effects.evidence(effect, detail={"api_key": "k-1234"})
    for url, wanted in (
        (f"/mismatches/{mismatch}/", (SECRET, "another-secret")),
        (f"/reconcile/{effect}/", (SECRET, "t-1234", "k-1234")),
    ):
        before = operator.get(url).content.decode()
        after = operator.post(f"{url}reveal/").content.decode()
        for each in wanted:
            assert each not in before
            assert each in after
    assert [row[1] for row in _acts()] == ["mismatch", "effect"]


def _form(html: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)" autocomplete', html)
    box = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    assert box
    return dict(found) | {"text": entities.unescape(box[1]), "reason": "cents"}


def test_the_editor_keeps_what_is_redacted_as_it_is(senior: Client) -> None:
    number = _message(payload=f'{{"amount": 1.10, "password": "{SECRET}"}}')
    values = _form(senior.get(f"/messages/{number}/correct/").content.decode())
    assert SECRET not in values["text"]
    values["text"] = values["text"].replace("1.10", "1.20")
    assert senior.post(f"/messages/{number}/replay/", values).status_code == 303
    kept = one("SELECT payload FROM comboio_revision")
    assert bytes(kept).decode() == f'{{"amount": 1.20, "password": "{SECRET}"}}'
    text = looking.Markup(senior.get(f"/messages/{number}/").content.decode()).text
    assert SECRET not in text
    assert _acts() == []


def test_a_redacted_value_cannot_be_read_by_moving_it(senior: Client) -> None:
    number = _message()
    values = _form(senior.get(f"/messages/{number}/correct/").content.decode())
    seal = re.search("⟦[^⟧]*⟧", values["text"])
    assert seal
    before = looking.everything()
    values["text"] = f'{{"note": "{seal[0]}"}}'
    response = senior.post(f"/messages/{number}/replay/", values)
    assert response.status_code == 422
    assert "moved to a place where it would be shown" in response.content.decode()
    assert looking.everything() == before


def test_the_whole_text_is_edited_after_a_look_that_is_written_down(senior: Client) -> None:
    number = _message(payload=f"password={SECRET}", content_type="text/plain")
    html = senior.get(f"/messages/{number}/correct/").content.decode()
    assert "<textarea" not in html
    assert "reveal it to edit it" in html
    html = senior.post(f"/messages/{number}/reveal/", {"edit": "1"}).content.decode()
    values = _form(html)
    assert values["text"] == f"password={SECRET}"
    values["text"] += "x"
    assert senior.post(f"/messages/{number}/replay/", values).status_code == 303
    assert _acts() == [("sara", "message", number, "", "edited")]


def test_who_may_not_replay_is_shown_the_page_and_no_editor(operator: Client) -> None:
    number = _message()
    html = operator.post(f"/messages/{number}/reveal/", {"edit": "1"}).content.decode()
    assert "<textarea" not in html
    assert SECRET in html
    assert _acts() == [("olga", "message", number, "", "shown")]
