"""Filters from the URL: wrong values count as not given."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from dashboard import forms
from monitor.domain.states import State


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, None),
        ("", None),
        ("12", 12),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("9" * 5000, None),
    ],
)
def test_a_whole_number_is_one_that_the_database_can_hold(
    text: str | None, value: int | None
) -> None:
    assert forms.whole(text) == value


def test_a_filter_comes_back_as_the_link_it_was_read_from() -> None:
    wanted = forms.MessageFilter.parse(QueryDict("state=dead&consumer=3&page=abc"))
    assert (wanted.state, wanted.consumer, wanted.cursor) == (State.DEAD, 3, "abc")
    assert wanted.query == "?state=dead&consumer=3"
    assert wanted.is_set


def test_a_filter_of_nonsense_filters_nothing() -> None:
    wanted = forms.MessageFilter.parse(QueryDict("state=alive&consumer=99999&q=%00"))
    assert not wanted.is_set
    assert wanted.query == "?"


def test_a_cause_keeps_its_special_characters_in_the_link() -> None:
    wanted = forms.DeadLetterFilter.parse(QueryDict("cause=a%26b%3Dc%20%23d"))
    assert wanted.cause == "a&b=c #d"
    assert wanted.query == "?cause=a%26b%3Dc+%23d"


@pytest.mark.parametrize("text", ["message", "message:", "message:x", ":1", ""])
def test_an_act_filter_needs_a_kind_and_a_number(text: str) -> None:
    assert forms.AuditFilter.parse(QueryDict(f"object={text}")).thing is None


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00", "9999-12-31T23:59"])
def test_a_time_that_is_none_is_not_given(text: str) -> None:
    assert forms.AuditFilter.parse(QueryDict(f"since={text}")).since is None


def test_a_time_comes_back_in_utc_whatever_its_zone() -> None:
    wanted = forms.AuditFilter.parse(QueryDict("since=2026-07-01T12:00%2B02:00"))
    assert wanted.query == "?since=2026-07-01T10%3A00%3A00%2B00%3A00"
    assert wanted.is_set
