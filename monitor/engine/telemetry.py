"""The events of the engine as log lines: one JSON line each, never a payload."""

from __future__ import annotations

import structlog

from monitor.store.queue import Body

_log = structlog.get_logger("comboio")


def message_event(event: str, consumer: str, body: Body, **more: object) -> None:
    """Log what happened to a message, at WARNING: a plain success writes no line of its own."""
    _log.warning(
        event,
        consumer=consumer,
        source=body.source,
        dedup_key=body.key,
        message_id=body.id,
        session=body.session_key or "",
        correlation_id=body.correlation_id,
        traceparent=body.traceparent,
        **more,
    )


def engine_event(event: str, **fields: object) -> None:
    """Log what the engine itself met."""
    _log.warning(event, **fields)
