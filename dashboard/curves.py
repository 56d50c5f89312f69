"""Values over time as lines: one picture for the server's SVG, gaps where nothing is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.charts import Tick

WIDTH, HEIGHT = 720, 190
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 18, 24
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 4
_DAY_SECONDS = 86_400
_QUARTER_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The moments of a chart: when it begins, when its last bin is over, and the bins' length."""

    since: datetime
    until: datetime
    seconds: int

    def x(self, at: datetime) -> float:
        """Where a moment stands in the picture."""
        share = (at - self.since) / (self.until - self.since)
        return LEFT + max(0.0, min(1.0, share)) * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> tuple[Tick, ...]:
        """About six round moments of the viewer's clock, the date where a day begins."""
        step = next(
            each
            for each in (600, 3_600, 4 * 3_600, _DAY_SECONDS)
            if (self.until - self.since).total_seconds() / each <= _TICKS * 2
        )
        found, at = [], self.since
        while at < self.until:
            local = timezone.localtime(at)
            seconds = local.hour * 3_600 + local.minute * 60
            if seconds % step == 0:
                text = f"{local:%d.%m.}" if step == _DAY_SECONDS else f"{local:%H:%M}"
                found.append(Tick(at=plain(self.x(at)), text=text))
            at += timedelta(seconds=min(self.seconds, _QUARTER_SECONDS))  # where zones may begin
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The vertical axis from low to high. is_log: by powers of ten."""

    low: float
    high: float
    step: float
    is_log: bool = False

    @classmethod
    def linear(cls, values: Iterable[float], *, least: float) -> Scale:
        """From 0 to a round value that holds all values, at least to this one."""
        top = max(values, default=0.0)
        raw = max(top, least) / _TICKS
        magnitude = 10.0 ** math.floor(math.log10(raw))
        step = next(each * magnitude for each in _STEPS if each * magnitude >= raw * 0.999)
        return cls(low=0.0, high=step * math.ceil(max(top, least) / step - 1e-9), step=step)

    @classmethod
    def logarithmic(cls, values: Iterable[float], *, least: float) -> Scale:
        """Whole powers of ten round all values."""
        found = [each for each in values if math.isfinite(each)] or [least]
        low = 10.0 ** math.floor(math.log10(max(min(found), least)))
        high = 10.0 ** math.ceil(math.log10(max(*found, low * 10)))
        return cls(low=low, high=high, step=10.0, is_log=True)

    def y(self, value: float) -> float:
        """Where a value stands in the picture."""
        if self.is_log:
            value = min(max(value, self.low), self.high)
            share = math.log10(value / self.low) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def rounds(self) -> list[float]:
        """The round values that the axis names."""
        if self.is_log:
            count = round(math.log10(self.high / self.low))
            return [self.low * self.step**at for at in range(count + 1)]
        return [self.step * at for at in range(round(self.high / self.step) + 1)]

    def ticks(self, word: Callable[[float], str]) -> tuple[Tick, ...]:
        """The round values in words."""
        return tuple(Tick(at=plain(self.y(value)), text=word(value)) for value in self.rounds())


def path(
    values: Sequence[float | None], starts: Sequence[datetime], axis: Axis, scale: Scale
) -> str:
    """An SVG path through the middles of the bins, interrupted where a value is not known."""
    half, parts, is_down = timedelta(seconds=axis.seconds / 2), [], False
    for at, value in enumerate(values):
        if value is None:
            is_down = False
            continue
        place = f"{plain(axis.x(starts[at] + half))},{plain(scale.y(value))}"
        is_alone = not is_down and (at + 1 == len(values) or values[at + 1] is None)
        parts.append(f"{'L' if is_down else 'M'}{place}{'h0.1' if is_alone else ''}")
        is_down = True
    return "".join(parts)


def plain(value: float) -> str:
    """A coordinate: never localised, at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
