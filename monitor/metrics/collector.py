"""The one collector: what its registry yields is read from the database, never counted here."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from monitor import conf
from monitor.domain.errors import ConfigurationError
from monitor.domain.version import VERSION
from monitor.metrics.families import families
from monitor.metrics.figures import Cache


class ComboioCollector(Collector):
    """Yields the figures of a cache; without any, only that the database is away."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def describe(self) -> list[Metric]:
        """Nothing, so that registering does not scrape the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Every metric, each family once."""
        reading = self._cache.get()
        up = float(reading.is_database_up)
        yield InfoMetricFamily("comboio_build", "What runs.", {"version": VERSION})
        yield GaugeMetricFamily("comboio_database_up", "1 while the database answers.", up)
        meaning = "Failed readings of the figures by this process."
        yield CounterMetricFamily("comboio_snapshot_errors", meaning, reading.errors)
        if reading.figures is not None:
            yield from families(reading.figures, _sources())


def registry(cache: Cache | None = None) -> CollectorRegistry:
    """A registry that holds our collector and nothing of the process."""
    found = CollectorRegistry(auto_describe=False)
    found.register(ComboioCollector(cache or Cache()))
    return found


def _sources() -> Collection[str]:
    try:
        settings = conf.get()
        return [*settings.sources, *(f"effects/{name}" for name in settings.effects)]
    except ConfigurationError:
        return []  # a wrong file stops the entrances, not the metrics


REGISTRY = registry()
