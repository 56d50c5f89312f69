"""A value is found where the settings say, byte for byte, or refused in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from monitor.domain.errors import ConfigurationError, RejectedDeliveryError
from monitor.domain.places import Found, Place, sequence_at, text_at

FOUND = Found(
    body={"id": "k ", "n": 7, "f": 7.0, "d": Decimal("7E+0"), "t": True, "l": [1], "half": 0.5},
    headers={"x-id": "from header"},
    properties={"message_id": "from property"},
    attributes={"subject": "from attribute"},
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("id", "k "),
        ("body:id", "k "),
        ("n", "7"),
        ("f", "7"),
        ("d", "7"),
        ("missing", ""),
        ("l[0]", "1"),
        ("header:X-Id", "from header"),
        ("property:message_id", "from property"),
        ("attribute:subject", "from attribute"),
        ("header:absent", ""),
        ("join('#', [id, to_string(n)])", "k #7"),
    ],
)
def test_text_is_found_and_never_changed(place: str, text: str) -> None:
    assert text_at(Place.parse(place), FOUND) == text


@pytest.mark.parametrize("place", ["t", "l", "half", "@", "abs(id)", "join('#', [n])"])
def test_other_values_are_refused(place: str) -> None:
    with pytest.raises(RejectedDeliveryError):
        text_at(Place.parse(place), FOUND)


@pytest.mark.parametrize(
    ("value", "sequence"), [(1, 1), ("12", 12), (2.0, 2), (None, None), ("", None), (0, 0)]
)
def test_a_sequence_is_a_whole_number(value: Any, sequence: int | None) -> None:
    assert sequence_at(Place.parse("s"), Found(body={"s": value})) == sequence


@pytest.mark.parametrize("value", [-1, 1.5, "x", "-1", "1.0", True, 2**63, "9" * 20, "٣", []])
def test_anything_else_is_no_sequence(value: Any) -> None:
    with pytest.raises(RejectedDeliveryError, match="whole number from 0"):
        sequence_at(Place.parse("s"), Found(body={"s": value}))


@pytest.mark.parametrize("text", ["", " ", "header:", "body: ", "a[", "a..b"])
def test_a_place_that_is_none_is_a_configuration_error(text: str) -> None:
    with pytest.raises(ConfigurationError):
        Place.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "property:delivery_tag",
        "header:x-death",
        '"x-death"[0].count',
        "header:X-Delivery-Count",
        "receivedAt",
        "meta.correlation_id",
        "property:redelivered",
        "header:X-Request-ID",
    ],
)
def test_names_that_change_with_each_delivery_are_volatile(text: str) -> None:
    assert Place.parse(text).is_volatile
    assert not Place.parse("order.id").is_volatile
