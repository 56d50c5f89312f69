"""Identity keeps apart what is apart, and refuses in words what cannot be kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.domain import keys
from monitor.domain.errors import RejectedDeliveryError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.tuples(TEXT, TEXT), st.tuples(TEXT, TEXT))
def test_two_identities_share_a_key_only_when_both_parts_are_equal(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert (keys.dedup_key(*one) == keys.dedup_key(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a/b", "c"), ("a", "b/c")),
        (("s|1", "2"), ("s", "1|2")),
        (("a", "K"), ("a", "k")),
        (("a", "k"), ("a", "k ")),
        (("a", "\u00e9"), ("a", "e\u0301")),
        (("", "ab"), ("a", "b")),
    ],
)
def test_near_identities_stay_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert keys.dedup_key(*one) != keys.dedup_key(*other)


def test_the_stored_key_never_changes_between_releases() -> None:
    assert str(keys.dedup_key("origin", "key")) == "907f3bc1-5351-01f0-b596-67f26872aa8e"
    assert keys.session_id(7, "acc-1") == 3925858107612180809


@given(st.integers(1, 30_000), TEXT, st.integers(0, 3))
def test_a_session_id_is_a_positive_bigint_in_a_lane_of_its_consumer(
    consumer: int, session: str, salt: int
) -> None:
    row = keys.session_id(consumer, session, salt)
    assert 0 < row < 2**63
    assert keys.lane(consumer, row) // 256 == consumer


def test_salt_consumer_and_session_each_part_session_ids() -> None:
    rows = {keys.session_id(c, s, t) for c in (1, 11) for s in ("1", "11", "") for t in (0, 1)}
    assert len(rows) == 12


def test_the_lane_of_a_message_without_session_comes_from_its_own_id() -> None:
    assert keys.lane(3, -513) == 3 * 256 + 1


@pytest.mark.parametrize(
    "key", ["é" * 255, r"{guid}\12345", "../../etc/passwd", " ", "%2F", "a b", "x" * 512, "0"]
)
def test_odd_keys_are_keys(key: str) -> None:
    keys.check_key(key)


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("", "empty"),
        ("a\x00b", r"U\+0000"),
        ("a\r\nX-Evil: 1", r"U\+000D"),
        ("a\x7f", r"U\+007F"),
        ("a\x85", r"U\+0085"),
        ("x" * 513, "513 bytes"),
        ("é" * 257, "514 bytes"),
        ("\ud800", "surrogate"),
    ],
)
def test_a_wrong_key_is_refused_by_the_name_of_its_rule(key: str, rule: str) -> None:
    with pytest.raises(RejectedDeliveryError, match=rule):
        keys.check_key(key)


def test_an_empty_session_means_none_and_a_long_one_is_refused() -> None:
    keys.check_session("")
    keys.check_session("s" * 256)
    with pytest.raises(RejectedDeliveryError, match="session has 257 bytes"):
        keys.check_session("s" * 257)


def test_types_may_be_empty_and_origins_may_not() -> None:
    keys.check_type("")
    keys.check_origin("urn:x")
    with pytest.raises(RejectedDeliveryError, match="origin is empty"):
        keys.check_origin("")
