"""POST /effects/<name>/callback: a provider settles an effect, signed; everything else is told."""

from __future__ import annotations

import gzip
import hmac
import json
from typing import Any

import pytest
from django.test import Client

from monitor.metrics import collector, views
from tests import entrance, factories, factory_effects
from tests.entrance import BEARER, call_back, configured_effects
from tests.racing import race
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

SIGNED = {"scheme": "hmac", "secrets": [{"env": "TEST_SECRET"}], "header": "X-Sign"}


def _doubt(**more: Any) -> tuple[int, int, str]:
    """A message in doubt by its effect “charge”: message id, effect id, key."""
    message, number = factory_effects.in_doubt(factories.consumer(), **more)
    return message, number, one("SELECT key FROM comboio_effect WHERE id = %(id)s", id=number)


def _place(message: int) -> str:
    return str(one("SELECT state FROM comboio_message_state WHERE id = %(id)s", id=message))


def test_a_callback_settles_an_effect_in_doubt_and_repeats_are_answered_alike() -> None:
    message, _, key = _doubt(kind="neither")
    body = {"key": key, "told": "done", "reference": "ch_1", "result": {"receipt": 7, "fee": 0.25}}
    with configured_effects(charge=BEARER):
        first, again = call_back("charge", body), call_back("charge", body)
    assert (first.status, first.body) == (200, {"outcome": "settled", "state": "completed"})
    assert (again.status, again.body) == (200, {"outcome": "agrees", "state": "completed"})
    assert rows(
        "SELECT reference, decided_by, result->>'receipt', result->>'fee' FROM comboio_effect"
    ) == [("ch_1", "callback", "7", "0.25")]
    assert _place(message) == "ready"
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]
    evidence = rows(
        "SELECT verdict, detail->>'secret' FROM comboio_evidence WHERE source = 'callback'"
    )
    assert evidence == [("done", "TEST_SECRET")] * 2


def test_a_refusal_fails_the_effect_and_the_message_goes_on() -> None:
    message, _, key = _doubt()
    with configured_effects(charge=BEARER):
        answer = call_back("charge", {"key": key, "told": "refused"})
    assert (answer.status, answer.body["state"]) == (200, "failed")
    assert _place(message) == "ready"


def test_not_done_within_the_settle_time_is_to_be_said_again_later() -> None:
    message, _, key = _doubt()
    run("UPDATE comboio_effect SET called_at = clock_timestamp(), settle_seconds = 60")
    with configured_effects(charge=BEARER):
        early = call_back("charge", {"key": key, "told": "not done"})
        assert (early.status, early.outcome, early.headers["Retry-After"]) == (
            425,
            "too early",
            "5",
        )
        assert _place(message) == "in_doubt"
        run("UPDATE comboio_effect SET settle_seconds = 0")
        later = call_back("charge", {"key": key, "told": "not done"})
    assert (later.status, later.outcome) == (200, "settled")
    assert _place(message) == "ready"


def test_a_contradiction_is_a_conflict_that_overwrites_nothing() -> None:
    _, number, key = _doubt()
    with configured_effects(charge=BEARER):
        call_back("charge", {"key": key, "told": "done"})
        answer = call_back("charge", {"key": key, "told": "not done"})
    assert (answer.status, answer.body) == (409, {"outcome": "conflict", "state": "completed"})
    assert rows("SELECT target FROM comboio_alert WHERE kind = 'conflict'") == [(number,)]


def test_only_the_effect_of_that_name_is_found_under_its_key() -> None:
    _, _, key = _doubt()
    with configured_effects(charge=BEARER, refund=BEARER):
        answers = [
            call_back("refund", {"key": key, "told": "done"}),
            call_back("charge", {"key": "another", "told": "done"}),
        ]
    assert [(a.status, a.body) for a in answers] == [(404, {"outcome": "gone"})] * 2
    assert one("SELECT state FROM comboio_effect") == "in doubt"


def test_without_its_secret_nobody_settles_anything() -> None:
    _, _, key = _doubt()
    body = {"key": key, "told": "done"}
    with configured_effects(charge=BEARER):
        wrong = call_back("charge", body, headers={"Authorization": "Bearer wrong"})
        none = call_back("charge", body, headers={})
        unknown = call_back("refund", body)
    with configured_effects(charge=BEARER, secrets={"TEST_SECRET": ""}):
        unset = call_back("charge", body)
    assert [a.status for a in (wrong, none, unknown, unset)] == [401, 401, 404, 503]
    assert one("SELECT state FROM comboio_effect") == "in doubt"
    assert entrance.refused() == {
        "effects/charge:unauthenticated": 2,
        "-:unknown_source": 1,
        "effects/charge:not_configured": 1,
    }


def test_of_callbacks_at_once_one_decides_and_all_are_answered() -> None:
    _, _, key = _doubt()
    with configured_effects(charge=BEARER):
        told = race(*[lambda: call_back("charge", {"key": key, "told": "done"})] * 6)
    assert sorted(each.outcome for each in told) == ["agrees"] * 5 + ["settled"], told
    assert one("SELECT count(*) FROM comboio_event WHERE kind = 'settled'") == 1


def test_refused_callbacks_have_a_label_of_their_own_in_the_metrics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(views, "REGISTRY", collector.registry())
    with configured_effects(charge=BEARER):
        call_back("charge", b"[]")
        scraped = Client().get("/metrics").content.decode()
    assert 'comboio_refused_total{reason="malformed",source="effects/charge"} 1.0' in scraped


def test_a_signature_counts_over_the_bytes_on_the_wire() -> None:
    _, _, key = _doubt()
    wire = gzip.compress(json.dumps({"key": key, "told": "done"}).encode())
    good = hmac.digest(entrance.SECRET.encode(), wire, "sha256").hex()
    with configured_effects(charge=SIGNED):
        bad = call_back("charge", wire, headers={"X-Sign": "0" * 64, "Content-Encoding": "gzip"})
        answer = call_back("charge", wire, headers={"X-Sign": good, "Content-Encoding": "gzip"})
    assert (bad.status, bad.body["reason"]) == (401, "bad_signature")
    assert (answer.status, answer.outcome) == (200, "settled")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "not JSON"),
        (b"[]", "no JSON object"),
        (b'{"key":"k"}', "told: one of these is needed: done, not done, refused."),
        (b'{"key":"k","told":"cannot tell"}', "told: one of these"),
        (b'{"key":"k","told":["done"]}', "told: one of these"),
        (b'{"told":"done"}', "key: the idempotency key"),
        (b'{"key":7,"told":"done"}', "key: the idempotency key"),
        (b'{"key":"a\\u0000","told":"done"}', "key: the idempotency key"),
        (b'{"key":"k","told":"done","reference":7}', "reference: a text"),
        (b'{"key":"k","told":"done","amount":7}', "amount"),
        (b'{"key":"k","told":"done","result":NaN}', "JSON"),
        (b'{"key":"k","told":"done","result":' + b"[" * 50 + b"]" * 50 + b"}", "nests deeper"),
    ],
)
def test_a_body_that_says_nothing_is_refused_in_words(body: bytes, text: str) -> None:
    with configured_effects(charge=BEARER):
        answer = call_back("charge", body)
    assert (answer.status, answer.outcome) == (400, "refused")
    assert text in answer.body["detail"]


def test_a_result_that_the_database_cannot_hold_is_refused_and_settles_nothing() -> None:
    _, _, key = _doubt()
    with configured_effects(charge=BEARER):
        answer = call_back("charge", {"key": key, "told": "done", "result": "a\x00b"})
        large = call_back("charge", {"key": key, "told": "done", "result": "x" * 70_000})
        exact = call_back("charge", {"key": key, "told": "done", "result": [10**30, 1e300]})
    assert (answer.status, large.status, exact.status) == (400, 413, 200)
    assert rows("SELECT result->>0 FROM comboio_effect") == [(str(10**30),)]


def test_only_post_is_answered_and_no_login_is_asked_for() -> None:
    with configured_effects(charge=BEARER):
        assert Client().get("/effects/charge/callback").status_code == 405
        assert Client(enforce_csrf_checks=True).post("/effects/charge/callback").status_code == 401
