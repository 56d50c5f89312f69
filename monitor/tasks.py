"""Celery's entry point: a wake-up. No decision lives here; the truth is in PostgreSQL."""

from __future__ import annotations

from celery import shared_task

from monitor.worker import WAKE_UP, WAKE_UP_SECONDS, child


@shared_task(name=WAKE_UP, ignore_result=True, expires=WAKE_UP_SECONDS)
def drain() -> None:
    """Run what is ready; wake the next child, or this one again, when there may be more."""
    if child.drain():
        drain.apply_async()
