"""What counts of a payload: members named or left out, and never nothing."""

from __future__ import annotations

import pytest

from monitor.domain.errors import ConfigurationError
from monitor.domain.fingerprint import fingerprint
from monitor.domain.projection import Fingerprint

JSON = "application/json"


def digest(text: str, part: Fingerprint | None = None) -> bytes:
    return fingerprint(text.encode(), JSON, part)


def test_members_that_are_left_out_do_not_count_and_all_others_do() -> None:
    part = Fingerprint(ignore=("meta.sent_at", "try"))
    first = digest('{"a": 1.0, "meta": {"sent_at": 1, "by": "x"}, "try": 1}', part)
    assert digest('{"try": 9, "meta": {"by": "x", "sent_at": 2}, "a": 1}', part) == first
    assert digest('{"meta": {"by": "x"}, "a": 1}', part) == first
    assert digest('{"a": 1, "meta": {"by": "y"}}', part) != first


def test_only_the_named_members_count() -> None:
    part = Fingerprint(only=("order.id", "cents"))
    first = digest('{"order": {"id": 7, "at": 1}, "cents": 10.50}', part)
    assert digest('{"cents": 10.5, "order": {"at": 2, "id": 7}, "x": null}', part) == first
    assert digest('{"order": {"id": 8}, "cents": 10.5}', part) != first
    assert digest('{"order": {"id": 7}}', part) != first
    assert digest('{"order": {"id": 7}, "cents": null}', part) != digest(
        '{"order": {"id": 7}}', part
    )


def test_a_payload_without_any_named_member_counts_whole() -> None:
    part = Fingerprint(only=("nowhere",))
    assert digest('{"a": 1}', part) == digest('{"a": 1.0}', part) == digest('{"a": 1}')
    assert digest('{"a": 2}', part) != digest('{"a": 1}', part)


def test_numbers_stay_exact() -> None:
    part = Fingerprint(ignore=("x",))
    assert digest('{"n": 9007199254740993}', part) != digest('{"n": 9007199254740992}', part)


def test_what_is_no_json_counts_by_its_bytes() -> None:
    part = Fingerprint(only=("a",))
    assert fingerprint(b"{a}", JSON, part) == fingerprint(b"{a}", JSON)
    assert fingerprint(b"x", "text/plain", part) == fingerprint(b"x", "text/plain")


@pytest.mark.parametrize(
    "wrong", [{}, {"only": ("a",), "ignore": ("b",)}, {"only": ("",)}, {"ignore": ("a..b", "c")}]
)
def test_a_choice_of_nothing_is_refused(wrong: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(ConfigurationError):
        Fingerprint(**wrong)
