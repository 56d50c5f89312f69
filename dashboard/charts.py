"""Numbers as pictures: geometry for SVG, computed here, coloured by the stylesheet.

Every chart carries its sentence and its table, so nothing is in the picture alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dashboard import words

_SPARK = (120.0, 26.0)
_WIDTH, _HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 10, 24
_TICKS = 4
_BAR_GAP = 0.16


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """A line without axes. end: where the newest value stands. title: what it says in words."""

    line: str
    area: str
    end: tuple[str, str]
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of an axis: its place and its text."""

    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A rectangle of one series with the words a pointer shows."""

    x: str
    y: str
    width: str
    height: str
    series: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A named row of values to draw."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with axes, its sentence and its table. marker: x of a vertical line with its text."""

    sentence: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    marker: Tick | None = None
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM
    curves: tuple[tuple[int, str], ...] = field(default=())


def spark(values: Sequence[float], title: str) -> Spark | None:
    """A small line of the values, oldest first; None without a value above zero."""
    top = max(values, default=0)
    if top <= 0:
        return None
    width, height = _SPARK
    step = width / max(1, len(values) - 1)
    points = [
        (at * step, height - 2 - value / top * (height - 5)) for at, value in enumerate(values)
    ]
    line = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return Spark(
        line=line,
        area=f"0,{_n(height)} {line} {_n(width)},{_n(height)}",
        end=(_n(points[-1][0]), _n(points[-1][1])),
        title=title,
    )


def stacked(
    series: Sequence[Series], labels: Sequence[str], *, sentence: str, first_head: str
) -> Chart:
    """Bars of all series on top of each other, one bar per label."""
    sums = [sum(one.values[at] for one in series) for at in range(len(labels))]
    scale = _Scale.up_to(max(sums, default=0))
    slot = (_WIDTH - _LEFT - _RIGHT) / max(1, len(labels))
    bars = []
    for at, label in enumerate(labels):
        floor = 0.0
        for place, one in enumerate(series):
            value = one.values[at]
            if value <= 0:
                continue
            title = f"{label} · {one.name}: {words.number(value)}"
            bars.append(_bar(at, slot, scale, (floor, floor + value), series=place, title=title))
            floor += value
    return Chart(
        sentence=sentence,
        head=(first_head, *(one.name for one in series)),
        rows=tuple(
            (label, *(words.number(one.values[at]) for one in series))
            for at, label in enumerate(labels)
        ),
        x_ticks=_x_ticks(labels, slot),
        y_ticks=scale.ticks(),
        bars=tuple(bars),
        legend=tuple((place, one.name) for place, one in enumerate(series)),
    )


def histogram(
    counts: Sequence[int],
    labels: Sequence[str],
    *,
    sentence: str,
    heads: tuple[str, str],
    marker: tuple[int, str] | None = None,
) -> Chart:
    """One bar per bucket. marker: before which bucket a line stands, and its text."""
    scale = _Scale.up_to(max(counts, default=0))
    slot = (_WIDTH - _LEFT - _RIGHT) / max(1, len(labels))
    bars = [
        _bar(at, slot, scale, (0, count), series=0, title=f"{label}: {words.count(count)}")
        for at, (label, count) in enumerate(zip(labels, counts, strict=True))
        if count
    ]
    line = Tick(at=_n(_LEFT + marker[0] * slot), text=marker[1]) if marker else None
    ticks = tuple(
        Tick(at=_n(_LEFT + (at + 0.5) * slot), text=label) for at, label in enumerate(labels)
    )
    return Chart(
        sentence=sentence,
        head=heads,
        rows=tuple(
            (label, words.count(count)) for label, count in zip(labels, counts, strict=True)
        ),
        x_ticks=ticks,
        y_ticks=scale.ticks(),
        bars=tuple(bars),
        marker=line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """The vertical axis: a round top, whole steps."""

    top: float
    step: float

    @classmethod
    def up_to(cls, value: float) -> _Scale:
        if value <= 0:
            return cls(top=1, step=1)
        raw = value / _TICKS
        magnitude = 10.0 ** math.floor(math.log10(raw)) if raw > 1 else 1.0
        step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw)
        step = max(1.0, step if step >= _TICKS else math.ceil(step))
        return cls(top=step * math.ceil(value / step), step=step)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - value / self.top * (_HEIGHT - _BOTTOM - _TOP)

    def ticks(self) -> tuple[Tick, ...]:
        steps = round(self.top / self.step)
        values = [self.step * at for at in range(steps + 1)]
        return tuple(Tick(at=_n(self.y(value)), text=words.number(value)) for value in values)


def _bar(
    at: int,
    slot: float,
    scale: _Scale,
    span: tuple[float, float],
    *,
    series: int,
    title: str,
) -> Bar:
    low, high = scale.y(span[0]), scale.y(span[1])
    gap = slot * _BAR_GAP
    return Bar(
        x=_n(_LEFT + at * slot + gap / 2),
        y=_n(high),
        width=_n(slot - gap),
        height=_n(max(low - high, 0.75)),
        series=series,
        title=title,
    )


def _x_ticks(labels: Sequence[str], slot: float) -> tuple[Tick, ...]:
    every = max(1, math.ceil(len(labels) / 6))
    # Counted from the end, so that "now" always has its label.
    places = [at for at in range(len(labels)) if (len(labels) - 1 - at) % every == 0]
    return tuple(Tick(at=_n(_LEFT + (at + 0.5) * slot), text=labels[at]) for at in places)


def _n(value: float) -> str:
    """A coordinate: never localised, at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
