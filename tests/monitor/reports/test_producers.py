"""Who sends duplicates: by origin and type, with the commonest cause and the gaps."""

from __future__ import annotations

import pytest

from dashboard import sentences
from monitor.reports import duplicates
from tests import factories

pytestmark = pytest.mark.django_db


def _sent(origin: str, cause: str, *gaps: float, kind: str = "payment") -> int:
    owner = factories.consumer()
    number = factories.message(owner, origin=origin, type=kind)
    for gap in gaps:
        factories.duplicate(number, cause=cause, gap_seconds=gap)
    return owner


def test_the_largest_comes_first_with_its_share_cause_and_quartiles() -> None:
    _sent("billing", "repeated", 9.0, 10.0, 11.0)
    _sent("mail", "redelivered", 60.0)
    first, second = duplicates.read().producers
    assert (first.origin, first.type, first.count, first.share) == ("billing", "payment", 3, 0.75)
    assert (first.cause, first.gap_seconds) == ("repeated", (9.5, 10.0, 10.5))
    assert (second.origin, second.cause) == ("mail", "redelivered")


def test_only_those_of_the_consumer_are_told() -> None:
    owner = _sent("billing", "repeated", 9.0)
    _sent("mail", "redelivered", 60.0)
    (only,) = duplicates.read(consumer=owner).producers
    assert only.origin == "billing"


def test_one_whose_message_is_purged_is_told_without_a_name() -> None:
    _sent("billing", "repeated", 9.0)
    factories.run("DELETE FROM comboio_message")
    (only,) = duplicates.read().producers
    assert (only.origin, only.count) == ("", 1)


@pytest.mark.parametrize(
    ("cause", "gaps", "told"),
    [
        ("repeated", (9.8, 10.0, 10.1, 10.2), "retries after 10 s"),
        ("repeated", (1.0, 500.0, 4000.0), "a replay, or a restart"),
        ("concurrent", (0.1,), "a lock or visibility timeout shorter than its handler"),
        ("redelivered", (1.0,), "Its broker delivered again"),
        ("operator", (1.0,), "A person sent it again"),
    ],
)
def test_the_likely_cause_is_told_in_words(cause: str, gaps: tuple[float, ...], told: str) -> None:
    _sent("billing", cause, *gaps)
    (only,) = duplicates.read().producers
    assert told in sentences.likely_cause(only)
