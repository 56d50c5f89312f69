"""Lines over time: inside the picture, interrupted where nothing is known, round axes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from dashboard import curves
from dashboard.curves import Axis, Scale

START = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)


def _axis(bins: int = 60, seconds: int = 60) -> Axis:
    return Axis(since=START, until=START + timedelta(seconds=bins * seconds), seconds=seconds)


def _path(values: list[float | None]) -> str:
    starts = [START + timedelta(minutes=at) for at in range(len(values))]
    scale = Scale.linear([each for each in values if each is not None], least=1)
    with translation.override("de"):
        return curves.path(values, starts, _axis(len(values)), scale)


def test_a_gap_interrupts_the_line() -> None:
    assert re.sub(r"[\d.,]+", "", _path([1, 2, None, 3, 4])) == "MLML"


def test_a_value_between_two_gaps_is_a_dot() -> None:
    assert re.sub(r"[\d.,]+", "", _path([None, 2, None])) == "Mh"
    assert re.sub(r"[\d.,]+", "", _path([None, 2])) == "Mh"


def test_nothing_known_is_no_line() -> None:
    assert _path([None, None]) == ""


def test_every_point_is_inside_the_picture() -> None:
    for x, y in re.findall(r"([\d.]+),([\d.]+)", _path([0, 5, 1000.5, 3])):
        assert curves.LEFT <= float(x) <= curves.WIDTH - curves.RIGHT
        assert curves.TOP <= float(y) <= curves.HEIGHT - curves.BOTTOM


@pytest.mark.parametrize(
    ("value", "top"), [(0, 0.1), (0.07, 0.1), (0.13, 0.15), (7, 8), (41, 60), (1001, 1250)]
)
def test_the_axis_ends_at_a_round_value_above_all(value: float, top: float) -> None:
    scale = Scale.linear([value], least=0.1)
    assert scale.high == pytest.approx(top)
    assert 3 <= len(scale.rounds()) <= 6


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([], 1, 10), ([5], 1, 10), ([5, 2500], 1, 10_000), ([100], 100, 1_000), ([1e5], 1e5, 1e6)],
)
def test_the_axis_of_times_goes_by_powers_of_ten(
    values: list[float], low: float, high: float
) -> None:
    scale = Scale.logarithmic(values, least=1)
    assert (scale.low, scale.high) == (low, high)
    assert scale.rounds()[0] == low
    assert scale.rounds()[-1] == high


def test_a_time_beyond_the_last_bucket_stands_at_the_top() -> None:
    scale = Scale.logarithmic([5, float("inf")], least=1)
    assert scale.y(float("inf")) == curves.TOP


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "Europe/Berlin", "America/St_Johns"])
@pytest.mark.parametrize(("bins", "seconds"), [(60, 60), (72, 300), (96, 900), (168, 3600)])
def test_the_viewers_clock_decides_what_is_round(zone: str, bins: int, seconds: int) -> None:
    with timezone.override(ZoneInfo(zone)):
        ticks = _axis(bins, seconds).ticks()
    assert 4 <= len(ticks) <= 8
    for tick in ticks:
        assert re.fullmatch(r"\d\d:\d0|\d\d\.\d\d\.", tick.text)
