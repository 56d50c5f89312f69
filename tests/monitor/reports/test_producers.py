"""Who sends duplicates: by origin and type, with the commonest cause and the gaps."""

from __future__ import annotations

import pytest
from django.conf import LazySettings

from dashboard import sentences
from monitor.reports import duplicates
from tests import factories, factory_figures
from tests.rows import run

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
        ("repeated", (10.0, 10.1), "sent it anew"),  # two are no rhythm
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


def test_the_rate_of_an_origin_and_a_type_counts_first_deliveries_too() -> None:
    _sent("billing", "repeated", 9.0, 10.0, kind="charge")
    _sent("billing", "repeated", 9.0, kind="refund")
    _sent("mail", "redelivered")
    found = duplicates.read()
    by_origin = duplicates.rates(found, by="origin")
    assert [(one.name, one.duplicates, one.deliveries) for one in by_origin] == [("billing", 3, 5)]
    by_type = {one.name: one.ratio for one in duplicates.rates(found, by="type")}
    assert by_type == {"charge": 2 / 3, "refund": 1 / 2}


def test_what_came_before_the_window_is_not_in_the_rate() -> None:
    _sent("billing", "repeated", 9.0)
    run("UPDATE comboio_duplicate SET at = now() - interval '2 hours'")
    run("UPDATE comboio_message SET received_at = now() - interval '2 hours'")
    _sent("mail", "repeated", 9.0)
    found = duplicates.read(minutes=60)
    assert [one.name for one in duplicates.rates(found, by="origin")] == ["mail"]


def test_both_samples_bound_the_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_PRODUCERS_SAMPLE", 2)
    _sent("billing", "repeated", 9.0)
    run("UPDATE comboio_message SET received_at = now() - interval '30 minutes'")
    run("UPDATE comboio_duplicate SET at = now() - interval '29 minutes'")
    for _turn in range(2):
        _sent("mail", "repeated", 9.0)
    run("UPDATE comboio_message SET received_at = now() WHERE origin = 'mail'")
    found = duplicates.read(minutes=60)
    assert [(one.origin, sum(one.again), one.firsts) for one in found.sent] == [("mail", 2, 2)]
    assert found.sampled_since > found.minutes[-5]


def test_the_rate_of_a_consumer_and_a_cause_comes_from_the_counters() -> None:
    first, second = factories.consumer(name="a"), factories.consumer(name="b")
    for owner, again in ((first, 1), (second, 3)):
        factory_figures.counters(owner, name="received", label="new", value=10 - again)
        factory_figures.counters(owner, name="received", label="duplicate", value=again)
        factory_figures.counters(owner, name="duplicates", label="repeated", value=again)
    found = duplicates.read()
    by_consumer = [(one.name, one.ratio) for one in duplicates.rates(found, by="consumer")]
    assert by_consumer == [("b", 0.3), ("a", 0.1)]
    (cause,) = duplicates.rates(found, by="cause")
    assert (cause.name, cause.duplicates, cause.deliveries) == ("repeated", 4, 20)


def test_the_line_of_the_retention_is_the_configured_one(settings: LazySettings) -> None:
    settings.COMBOIO = {"retention": {"dedup_days": 8.0, "payload_days": 7.0}}
    found = duplicates.read()
    assert found.retention_seconds == 8 * 86_400
    assert [each.up_to_seconds for each in found.gaps][-3:] == [604_800, 8 * 86_400, None]
