"""Times of senders: RFC 3339 with a zone or nothing; what decides when to run is never guessed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from monitor.domain import times
from monitor.domain.errors import RejectedDeliveryError
from monitor.domain.places import Found, Place

BODY = Place.parse("at")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ODD = [
    "yesterday",
    "2026-01-31T12:00:00",  # no zone: whose noon?
    "2026-01-31",
    "2026-W05-6T12:00:00Z",
    "2026-02-30T12:00:00Z",
    "2026-01-31T12:00:60Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",  # before the first year of UTC
    "9999-12-31T23:59:59-14:00",
    "2026-01-31T12:00:00+99:99",
    "2026-01-31T12:00:00Z ",
    "٢٠٢٦-01-31T12:00:00Z",
    "1769860800",
    1769860800,
    Decimal("1769860800.5"),
    True,
    ["2026-01-31T12:00:00Z"],
    {"at": 1},
]


def found(value: Any) -> Found:
    return Found(body={"at": value})


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31t12:00:00z", NOON),
        ("2026-01-31 13:30:00+01:30", NOON),
        ("2026-01-31T12:00:00.123456789Z", NOON.replace(microsecond=123456)),
        (datetime(2026, 1, 31, 12), NOON),
    ],
)
def test_a_time_with_its_zone_is_read_in_utc(text: Any, at: datetime) -> None:
    assert times.read_time(text) == at
    assert times.sent_at(BODY, found(text)) == at


@pytest.mark.parametrize("value", [*ODD, None, ""])
def test_an_odd_time_of_sending_is_no_time_and_refuses_nothing(value: Any) -> None:
    assert times.sent_at(BODY, found(value)) is None


@pytest.mark.parametrize("value", ODD)
def test_an_odd_delay_is_refused(value: Any) -> None:
    with pytest.raises(RejectedDeliveryError, match="with its zone"):
        times.not_before(BODY, found(value))


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"])
def test_a_date_that_nobody_set_neither_dates_nor_delays(text: str) -> None:
    assert times.sent_at(BODY, found(text)) is None
    assert times.sending_time(text) is None
    assert times.not_before(BODY, found(text)) is None


def test_a_delay_of_more_than_a_year_is_refused_and_none_is_fine() -> None:
    now = datetime.now(UTC)
    near, far = now + timedelta(days=364), now + timedelta(days=366)
    assert times.not_before(BODY, found(near.isoformat())) == near
    assert times.not_before(BODY, found("2001-01-01T00:00:00Z")) is not None
    assert [times.not_before(BODY, found(value)) for value in (None, "")] == [None, None]
    with pytest.raises(RejectedDeliveryError, match="more than 365 days ahead"):
        times.not_before(BODY, found(far.isoformat()))


def test_the_property_timestamp_of_amqp_counts_seconds() -> None:
    place = Place.parse("property:timestamp")
    assert times.sent_at(place, Found(properties={"timestamp": 1769860800})) == NOON
    assert times.sent_at(place, Found(properties={"timestamp": 2**63})) is None


@pytest.mark.parametrize(
    ("value", "is_last"),
    [(True, True), (1, True), (1.0, True), ("true", True), ("1", True)]
    + [(each, False) for each in (False, 0, 2, "false", "True", "yes", "", None, [1], {"a": 1})],
)
def test_the_last_one_is_marked_by_true_or_1(value: Any, *, is_last: bool) -> None:
    assert times.is_last(BODY, found(value)) is is_last
