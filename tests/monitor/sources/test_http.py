"""POST /ingest/<source>: stored and told, or refused in words with nothing stored."""

from __future__ import annotations

import gzip
import json
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.test import Client

from tests import entrance
from tests.engine import consuming
from tests.entrance import PLAIN, TOKEN, configured, get, post

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_message_is_told_new_then_duplicate_then_its_result() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        first = post("shop", b'{"id":"k","n":1}')
        again = post("shop", b'{"n":1.0, "id":"k"}')
        assert entrance.count_effects() == 1
        later = post("shop", b'{"id":"k","n":1}')
    assert (first.status, first.body) == (202, {"outcome": "new", "message": first.body["message"]})
    assert (again.status, again.outcome, again.body["state"]) == (200, "duplicate", "ready")
    assert again.body["message"] == later.body["message"] == first.body["message"]
    assert again.body["first_seen"].endswith("Z")
    assert (later.body["state"], later.body["result"]) == ("done", {"key": "k"})


def test_another_payload_under_the_same_key_is_a_conflict() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        first = post("shop", b'{"id":"k","n":1}')
        other = post("shop", b'{"id":"k","n":2}')
        assert entrance.count_effects() == 1
    assert (other.status, other.outcome) == (422, "mismatch")
    assert other.body["message"] == first.body["message"]
    assert entrance.mismatches() == 1


def test_one_new_consumer_decides_and_each_is_told() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        post("shop", b'{"id":"k","n":1}')
        with consuming(lambda payload, message: None, name="shop.second", source="shop"):
            both = post("shop", b'{"id":"k","n":1}')
            conflict = post("shop", b'{"id":"k","n":2}')
    assert both.status == 202
    outcomes = {each["consumer"]: each["outcome"] for each in both.body["consumers"]}
    assert outcomes == {"shop.effect": "duplicate", "shop.second": "new"}
    assert conflict.status == 422


def test_session_sequence_type_and_headers_are_taken_from_their_places() -> None:
    places = {"session": "to", "sequence": "seq", "type": "header:X-Kind", "origin": "urn:shop"}
    headers = {
        **TOKEN,
        "X-Kind": "paid",
        "X-Correlation-Id": "c-1",
        "traceparent": "00-1-1-01",
        "Cookie": "canary",
        "X-Api-Key": "canary",
    }
    with configured(shop={**PLAIN, **places}), entrance.effects("shop"):
        post("shop", b'{"id":7,"to":"acc","seq":3}', headers=headers)
    row = entrance.rows(
        "SELECT m.key, m.origin, m.type, m.sequence, s.key, m.correlation_id, m.traceparent,"
        " m.headers::text, m.payload FROM comboio_message m JOIN comboio_session s"
        " ON s.id = m.session"
    )[0]
    assert row[:7] == ("7", "urn:shop", "paid", 3, "acc", "c-1", "00-1-1-01")
    assert row[8] == b'{"id":7,"to":"acc","seq":3}'
    kept = json.loads(row[7])
    assert (kept["x-kind"], kept["comboio-secret"]) == ("paid", "TEST_SECRET")
    assert "canary" not in row[7]
    assert entrance.SECRET not in row[7]


def test_what_no_consumer_takes_is_kept_or_only_counted_as_the_source_says() -> None:
    with configured(shop=PLAIN, noise={**PLAIN, "unrouted": "ignore"}):
        assert post("shop", b'{"id":"k"}').status == 202
        ignored = post("noise", b'{"id":"k"}')
    assert (ignored.status, ignored.outcome) == (200, "ignored")
    assert entrance.rows("SELECT reason FROM comboio_dead") == [("no handler",)]


@pytest.mark.parametrize(
    ("headers", "content_type", "body", "status", "reason"),
    [
        ({}, "application/json", b'{"id":"k"}', 401, "unauthenticated"),
        ({"Authorization": "Basic x"}, "application/json", b"{}", 401, "unauthenticated"),
        ({"Authorization": "Bearer é"}, "application/json", b"{}", 401, "unauthenticated"),
        ({"Authorization": "Bearer wrong"}, "application/json", b"{}", 401, "unauthenticated"),
        (TOKEN, "text/plain", b'{"id":"k"}', 415, "media_type"),
        (TOKEN, "application/x-www-form-urlencoded", b"payload=%7B%7D", 415, "media_type"),
        (TOKEN, "application/json; charset=utf-16", b'{"id":"k"}', 415, "media_type"),
        ({**TOKEN, "Content-Encoding": "br"}, "application/json", b"{}", 415, "encoding"),
        ({**TOKEN, "Content-Encoding": "gzip"}, "application/json", b"{}", 400, "malformed"),
        (TOKEN, "application/json", b"", 400, "malformed"),
        (TOKEN, "application/json", b"{", 400, "malformed"),
        (TOKEN, "application/json", b"[" * 101 + b"]" * 101, 400, "malformed"),
        (TOKEN, "application/json", b'{"id":true}', 400, "malformed"),
        (TOKEN, "application/json", b'{"id":[1]}', 400, "malformed"),
        (TOKEN, "application/json", b'{"id":1.5}', 400, "malformed"),
        (TOKEN, "application/json", b"[1]", 400, "no_key"),
        (TOKEN, "application/json", b'{"id":"' + b"x" * 2**20 + b'"}', 413, "too_large"),
    ],
)
def test_a_refusal_says_why_is_counted_and_stores_nothing(
    headers: dict[str, str], content_type: str, body: bytes, status: int, reason: str
) -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        answer = post("shop", body, headers=headers, content_type=content_type)
    assert (answer.status, answer.body["reason"]) == (status, reason)
    assert answer.body["detail"]
    assert entrance.stored() == 0
    assert entrance.refused() == {f"shop:{reason}": 1}


def test_gzip_is_read_and_a_bomb_is_stopped_at_the_limit() -> None:
    packed = {**TOKEN, "Content-Encoding": "gzip"}
    with configured(shop=PLAIN), entrance.effects("shop"):
        good = gzip.compress(b'{"id":"k"}')
        assert post("shop", good, headers=packed).status == 202
        assert post("shop", gzip.compress(b" " * 200_000_000, 9), headers=packed).status == 413
        assert post("shop", good[:-1], headers=packed).status == 400
        assert post("shop", good + b"x", headers=packed).status == 400
        assert post("shop", b'{"id":"k"}').status == 200


@pytest.mark.parametrize("body", [b'{"id":"k"}', b'{"id":"k","to":[1]}', b'{"id":"k","to":true}'])
def test_a_session_that_a_consumer_cannot_find_is_the_senders_fault(body: bytes) -> None:
    path = "join('#', [to])"
    with (
        configured(shop=PLAIN),
        consuming(lambda payload, message: None, name="shop.odd", source="shop", session=path),
    ):
        answer = post("shop", body)
        assert post("shop", b'{"id":"k","to":"a"}').status == 202
    assert (answer.status, answer.body["reason"]) == (400, "malformed")
    assert entrance.stored() == 1


def test_an_unknown_source_is_counted_without_its_name() -> None:
    with configured(shop=PLAIN):
        assert post("x" * 50, b"{}").status == 404
    assert entrance.refused() == {"-:unknown_source": 1}


def test_a_source_without_its_secret_answers_503_and_names_the_variable() -> None:
    with configured(secrets={"TEST_SECRET": ""}, shop=PLAIN):
        answer = post("shop", b'{"id":"k"}')
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    assert "TEST_SECRET" in answer.body["detail"]


def test_everyone_may_send_to_an_unsigned_source_and_nobody_may_read_it() -> None:
    with configured(open={"kind": "http", "format": "json", "key": "id", "unsigned": True}):
        assert post("open", b'{"id":"k"}', headers={}).status == 202
        assert get("open", "k", headers={}).status == 401


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (psycopg.OperationalError("the server went away"), 503),
        (psycopg.errors.QueryCanceled("timeout"), 503),
        (psycopg.DataError("22P05"), 400),
        (RuntimeError("a fault of ours"), 503),
    ],
)
def test_what_is_not_stored_for_certain_is_never_answered_2xx_or_500(
    error: Exception, status: int
) -> None:
    with configured(shop=PLAIN), mock.patch("monitor.engine.ingest.receive", side_effect=error):
        answer = post("shop", b'{"id":"k"}')
    assert answer.status == status
    assert ("Retry-After" in answer.headers) == (status == 503)
    assert "server went away" not in answer.body["detail"]


def test_a_count_that_fails_refuses_nobody_twice() -> None:
    away = psycopg.OperationalError("away")
    with (
        configured(shop=PLAIN),
        mock.patch("django.db.backends.base.base.BaseDatabaseWrapper.cursor", side_effect=away),
    ):
        assert post("shop", b"{}", headers={}).status == 401


@pytest.mark.parametrize("method", ["get", "put", "delete", "options"])
def test_only_post_delivers(method: str) -> None:
    with configured(shop=PLAIN):
        assert getattr(Client(), method)("/ingest/shop").status_code == 405


def test_a_browser_of_another_site_needs_the_credentials_too() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        response = Client(enforce_csrf_checks=True).post(
            "/ingest/shop", b'{"id":"k"}', content_type="application/json", headers=TOKEN
        )
    assert response.status_code == 202


def test_a_key_is_found_with_its_state_and_result() -> None:
    with configured(shop=PLAIN, other=PLAIN), entrance.effects("shop"):
        post("shop", b'{"id":"a/b c"}')
        entrance.count_effects()
        found = get("shop", "a%2Fb%20c")
        assert (found.status, found.body["key"]) == (200, "a/b c")
        told: dict[str, Any] = found.body["consumers"][0]
        assert (told["consumer"], told["state"]) == ("shop.effect", "done")
        assert told["result"] == {"key": "a/b c"}
        assert get("shop", "unknown").status == 404
        assert get("other", "a%2Fb%20c").status == 404
        assert get("other", "a%2Fb%20c", origin="shop").status == 404
        assert get("shop", "a%2Fb%20c", headers={}).status == 401
        assert get("shop", "%00").status == 400
