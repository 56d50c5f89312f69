"""Geometry of the charts: inside the picture, never localised, with a table that says the same."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from dashboard import charts
from dashboard.charts import Series


def _stacked() -> charts.Chart:
    series = [Series(name="a", values=[1, 2000.5, 0]), Series(name="b", values=[3, 4, 0])]
    return charts.stacked(series, ["10:00", "10:01", "10:02"], sentence="two", first_head="from")


def test_bars_stand_on_each_other_inside_the_picture() -> None:
    chart = _stacked()
    assert [bar.series for bar in chart.bars] == [0, 1, 0, 1]
    lower, upper = chart.bars[:2]
    assert float(upper.y) + float(upper.height) == pytest.approx(float(lower.y), abs=1)
    for bar in chart.bars:
        assert chart.left <= float(bar.x) <= chart.right
        assert chart.top <= float(bar.y) <= chart.bottom


def test_coordinates_are_machine_numbers_in_every_language() -> None:
    with translation.override("de"):
        chart = _stacked()
    for bar in chart.bars:
        for value in (bar.x, bar.y, bar.width, bar.height):
            assert re.fullmatch(r"\d+(\.\d)?", value)


def test_the_table_has_a_row_for_each_label() -> None:
    chart = _stacked()
    assert chart.head == ("from", "a", "b")
    assert [row[0] for row in chart.rows] == ["10:00", "10:01", "10:02"]


def test_a_chart_of_nothing_has_no_bars_and_still_an_axis() -> None:
    chart = charts.stacked([], [], sentence="", first_head="")
    assert chart.bars == ()
    assert [tick.text for tick in chart.y_ticks] == ["0", "1"]


def test_the_marker_stands_before_its_bucket() -> None:
    chart = charts.histogram(
        [5, 0, 1], ["a", "b", "c"], sentence="", heads=("gap", "n"), marker=(2, "kept")
    )
    assert chart.marker is not None
    assert float(chart.bars[0].x) < float(chart.marker.at) < float(chart.bars[1].x)


def test_a_spark_needs_a_value() -> None:
    assert charts.spark([0, 0, 0], "nothing") is None
    assert charts.spark([], "nothing") is None
    line = charts.spark([0, 5, 10], "some")
    assert line is not None
    assert line.line == "0,24 60,13.5 120,3"
