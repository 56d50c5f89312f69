"""A walk: a secret of a payload leaves by no page, piece, diff, toast, export, metric or log."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings as DjangoSettings

from dashboard import camera
from monitor.domain.errors import DeadLetter
from monitor.domain.message import Message
from monitor.operations import replaying
from tests import factory_effects
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.engine import consuming, delivery, drain_all, send
from tests.people import CLARA
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)
SECRETS = ("hunter2-first-9876", "hunter2-second-987", "hunter2-third-9876")  # same length
EVIL = "</textarea><script>alert(1)</script>"


def _body(secret: str) -> dict[str, Any]:
    return {
        "amount": 1,
        "password": secret,
        "owner": {"name": secret},
        "deep": {"card": [{"number": secret}], "json": json.dumps({"token": secret})},
        EVIL: {"secret": [EVIL, secret]},
    }


@pytest.fixture
def walked(settings: DjangoSettings) -> int:
    """A message that died with its secret in the error, was corrected, and died again."""
    settings.COMBOIO = {"redaction": {"pointers": ["/owner/name"]}}

    def handle(payload: Any, _message: Message) -> None:
        raise DeadLetter(f"cannot log in: {payload['password']} of {payload!r}")

    first, second, third = SECRETS
    with consuming(handle, name="shop.login", when_dead="hold"):
        headers = {"authorization": f"Bearer {first}", "x-note": f"token={first}"}
        send(delivery("k1", _body(first), session="s", headers=headers))
        send(delivery("k1", _body(second), session="s", headers=headers))
        drain_all()
        dead = int(one("SELECT id FROM comboio_dead"))
        replaying.replay(
            CLARA,
            dead,
            json.dumps(_body(third)).encode(),
            seen=one("SELECT version FROM comboio_dead"),
            reason="another one",
        )
        drain_all()
    request = {"copy": first, "other": [third], "password": second}
    effect = factory_effects.effect(dead, request=request, error=f"refused {third}", result=request)
    factory_effects.evidence(effect, detail={"answer": {"echo": third}, "api_key": second})
    factory_effects.conflict(effect)
    return dead


def _look(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return content.decode() + str(dict(response.items()))


def test_no_page_and_no_piece_shows_a_secret(senior: Client, walked: int) -> None:
    pages = [each for each in looking.patterns() if not looking.is_verb(each)]
    addresses = {address for _name, address in camera.LISTS}
    for pattern in pages:
        address = looking.address(pattern)
        if "<" in str(pattern.pattern):
            noun = str(pattern.name).partition("_")[0]
            statement = {"messages": f"SELECT {walked}", "dead_letters": f"SELECT {walked}"}.get(
                noun, looking.ROUTES.get(noun, "SELECT 1")
            )
            address = re.sub(r"\d+", str(one(statement) or 1), address)
        addresses.add(address)
    for address in sorted(addresses):
        for headers in ({}, looking.PIECE):
            told = _look(senior, address, **headers)
            assert not [each for each in SECRETS if each in told], address
    assert "redacted: text, 18 characters" in _look(senior, f"/messages/{walked}/")
    assert "<script>alert" not in _look(senior, f"/messages/{walked}/")


def test_the_mismatch_shows_that_secrets_differ(senior: Client, walked: int) -> None:
    number = one("SELECT id FROM comboio_mismatch")
    text = looking.Markup(_look(senior, f"/mismatches/{number}/")).text
    for path in ("password", "owner.name", "deep.card[0].number", "deep.json"):
        assert path in text


def test_no_toast_no_export_and_no_refusal_tells_a_secret(senior: Client, walked: int) -> None:
    seen = one("SELECT version FROM comboio_dead")
    form = {"seen": str(seen), "reason": "x", "next": "/", "text": "{", "revision": "2"}
    told = [
        senior.post(f"/messages/{walked}/replay/", form).content,
        senior.post(f"/messages/{walked}/replay/", form, headers=looking.SCRIPTED).content,
        b"".join(senior.post("/audit/export/", {}).streaming_content),
        senior.post(f"/dead-letters/{walked}/requeue/", form, headers=looking.SCRIPTED).content,
        senior.post(f"/dead-letters/{walked}/requeue/", form, headers=looking.SCRIPTED).content,
        senior.get("/metrics").content,
    ]
    for each in told:
        assert not [secret for secret in SECRETS if secret.encode() in each]


def test_the_log_holds_no_secret(caplog: pytest.LogCaptureFixture, walked: int) -> None:
    told = " ".join(f"{each.msg} {each.args}" for each in caplog.get_records("setup"))
    assert "shop.login" in told
    assert not [secret for secret in SECRETS if secret in told]


def test_nothing_of_a_payload_is_shown_to_a_viewer(sign_in: SignIn, walked: int) -> None:
    viewer = sign_in("viewer", "victor")
    run(
        "INSERT INTO comboio_done (id, consumer, ms, attempts, result) SELECT id, consumer, 1, 1,"
        " '{\"balance\": 77123}' FROM comboio_message WHERE id = %(i)s",
        i=walked,
    )
    told = _look(viewer, f"/messages/{walked}/")
    assert "77123" not in told
    assert "&quot;amount&quot;" not in told
    assert 'id="payload"' not in told
    assert "/reveal/" not in told
