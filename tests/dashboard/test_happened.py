"""Flags of what happened: near ones share one, and the words stay in the picture."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dashboard import curves, happened
from dashboard.curves import Axis
from monitor.reports.annotation import Annotation, AnnotationKind

START = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
HOUR = Axis(since=START, until=START + timedelta(hours=1), seconds=60)


def _told(*minutes: float) -> list[happened.Happening]:
    return happened.told(
        [
            Annotation(
                at=START + timedelta(minutes=each), kind=AnnotationKind.DEPLOY, text="2", before="1"
            )
            for each in minutes
        ]
    )


def test_near_ones_share_a_flag_with_all_their_words() -> None:
    marks = happened.marks(_told(10, 10.5, 11, 40), HOUR)
    assert [mark.label for mark in marks] == ["1-3", "4"]
    assert marks[0].text.count("Deploy of 2, before it 1") == 3


def test_each_bin_has_the_words_of_its_own() -> None:
    assert list(happened.by_bin(_told(10, 10.5, 11), HOUR)) == [10, 11]


def test_the_words_stay_in_the_picture_at_both_ends() -> None:
    for mark in happened.marks(_told(0, 30, 60), HOUR):
        left = float(mark.x) + float(mark.tip_x)
        assert curves.LEFT <= left <= curves.WIDTH - curves.RIGHT - 200 + 0.1


def test_a_percent_sign_of_a_name_is_no_placeholder() -> None:
    odd = Annotation(
        at=START, kind=AnnotationKind.REQUEUE, consumer="50%(x)s", count=3, target_id=1
    )
    assert happened.told([odd])[0].text == "50%(x)s: 3 messages requeued together"
