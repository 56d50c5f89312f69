"""System checks of time: how long a sender may repeat a message against how long keys are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Info, Warning, register  # noqa: A004

from monitor import conf
from monitor.domain.errors import ConfigurationError
from monitor.domain.settings import Retention
from monitor.domain.source import DAY_SECONDS, AmqpSource, Source

TAG = "comboio"
SHORTEST_MARGIN_DAYS = 1.0


@register(TAG)
def check_coverage(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Sources whose sender may, after some hours of trouble, repeat what is forgotten already."""
    try:
        settings = conf.get()
    except ConfigurationError:
        return []  # told by check_sources
    return [
        message
        for source in settings.sources.values()
        for message in (*_thin_margin(source, settings.retention), *_without_ttl(source))
    ]


def _thin_margin(source: Source, retention: Retention) -> list[CheckMessage]:
    if _margin_days(source, retention) >= SHORTEST_MARGIN_DAYS:
        return []
    return [
        Warning(
            f"Source “{source.name}”: {_sum(source)}, keys are kept for {retention.dedup_days:g}. "
            "If the sender, the broker or this product is away for longer than the difference, a "
            "copy comes after its key is forgotten and runs again.",
            hint=f"Raise retention.dedup_days by {SHORTEST_MARGIN_DAYS:g} or more.",
            id="comboio.W009",
        )
    ]


def _without_ttl(source: Source) -> list[CheckMessage]:
    if not isinstance(source, AmqpSource) or source.message_ttl_seconds:
        return []
    return [
        Warning(
            f"Source “{source.name}”: message_ttl_seconds = 0 says that its queue keeps nothing. A "
            "queue without a limit keeps a copy for ever, longer than any key.",
            hint="Give the queue a message TTL and declare it here.",
            id="comboio.W010",
        )
    ]


def _margin_days(source: Source, retention: Retention) -> float:
    return retention.dedup_days - source.redelivery_window_seconds / DAY_SECONDS


def _sum(source: Source) -> str:
    return (
        f"{source.max_deliveries} deliveries * {source.redelivery_seconds} s + "
        f"{source.message_ttl_seconds} s: its sender may repeat a message for "
        f"{source.redelivery_window_seconds / DAY_SECONDS:.2f} days"
    )


@register(TAG, deploy=True)
def check_retention(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """For each source, how long its sender may repeat a message against how long keys are kept.

    A window that is too long never gets here: the settings refuse it.
    """
    try:
        settings = conf.get()
    except ConfigurationError:
        return []  # told by check_sources
    kept = settings.retention
    return [
        Info(
            f"Source “{source.name}”: {_sum(source)}; keys are kept for {kept.dedup_days:g}. "
            f"Margin: {_margin_days(source, kept):.2f} days.",
            hint="Change retention.dedup_days, or what the source declares, in comboio.toml.",
            id="comboio.I001",
        )
        for source in settings.sources.values()
    ]
