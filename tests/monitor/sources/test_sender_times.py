"""last, not_before, sent_at and too_old at both kinds of entrances."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from monitor.sources.base import set_aside
from tests.engine import consuming, send
from tests.entrance import EVENTS, PLAIN, TOKEN, configured, post
from tests.monitor.sources.letters import deliver, letter
from tests.rows import one, rows

NOON = "2026-01-31T12:00:00Z"
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
PLACES = {"last": "end", "not_before": "header:x-after", "sent_at": "sent"}
DAY_SECONDS = 86_400


def event(**attributes: Any) -> bytes:
    return json.dumps(
        {"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "data": 1, **attributes}
    ).encode()


@pytest.fixture
def _inbox(transactional_db: None) -> None:
    """Requests commit."""


@pytest.mark.usefixtures("_inbox")
def test_http_maps_what_a_sender_says_about_time_and_order() -> None:
    later = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    body = json.dumps({"id": "a", "end": True, "sent": NOON}).encode()
    with (
        configured(shop={**PLAIN, **PLACES, "too_old": "accept"}),
        consuming(lambda _payload, _message: None, source="shop"),
    ):
        assert post("shop", body, headers={**TOKEN, "X-After": later}).status == 202
        for odd in ("soon", "2026-01-31T12:00:00", "2226-01-31T12:00:00Z"):
            answer = post("shop", body, headers={**TOKEN, "X-After": odd})
            assert (answer.status, answer.body["reason"]) == (400, "malformed")
    query = "SELECT is_last, sent_at, not_before::text, headers ->> 'x-after' FROM comboio_message"
    ((is_last, sent_at, not_before, kept),) = rows(query)
    assert (is_last, sent_at, kept) == (True, AT, later)
    assert datetime.fromisoformat(not_before) == datetime.fromisoformat(later)
    assert one("SELECT count(*) FROM comboio_waiting") == 1


@pytest.mark.usefixtures("_inbox")
def test_a_cloud_event_is_dated_by_its_time_and_an_odd_one_is_only_text() -> None:
    kind = "application/cloudevents+json"
    with configured(shop=EVENTS, other={**EVENTS, "sent_at": "attribute:sentat"}):
        post("shop", event(time=NOON), content_type=kind)
        post("shop", event(id="odd", time="yesterday"), content_type=kind)
        post("other", event(id="own", time="yesterday", sentat=NOON), content_type=kind)
    assert rows("SELECT key, sent_at, headers ->> 'ce-time' FROM comboio_message ORDER BY id") == [
        ("e", AT, NOON),
        ("odd", None, "yesterday"),
        ("own", AT, "yesterday"),
    ]


def test_amqp_maps_the_same() -> None:
    found = deliver(
        letter(f'{{"end":1,"sent":"{NOON}"}}', headers={"x-after": NOON}),
        **PLACES,
        too_old="accept",
    )
    assert (found.is_last, found.sent_at, found.not_before) == (True, AT, AT)
    assert (found.window_seconds, found.old_is_dead) == (14 * DAY_SECONDS, False)
    bare = deliver(letter())
    assert (bare.is_last, bare.sent_at, bare.not_before, bare.old_is_dead) == (
        False,
        None,
        None,
        True,
    )


def test_amqp_dates_a_cloud_event_by_its_time() -> None:
    headers = {f"cloudEvents:{name}": name for name in ("id", "source", "type")}
    dated = deliver(letter(headers={**headers, "cloudEvents:time": NOON}))
    odd = deliver(letter(headers={**headers, "cloudEvents:time": "1769860800"}))
    assert (dated.sent_at, odd.sent_at) == (AT, None)
    assert odd.headers["cloudEvents:time"] == "1769860800"


def test_amqp_sets_an_odd_delay_aside_without_any_delay(transactional_db: None) -> None:
    found = deliver(letter('{"end":1}', headers={"x-after": "soon"}), **PLACES)
    assert "with its zone" in found.malformed
    assert (found.not_before, found.is_last) == (None, False)
    send(found)
    assert one("SELECT reason FROM comboio_dead") == "malformed"


def test_what_ingest_refuses_is_kept_at_once_whatever_its_delay_was() -> None:
    later = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    found = deliver(letter('{"end":1}', headers={"x-after": later}), **PLACES)
    aside = set_aside(found, "refused")
    assert (aside.not_before, aside.sent_at, aside.is_last) == (None, None, False)
