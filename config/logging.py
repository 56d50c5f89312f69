"""Logs: one JSON line an event, whoever logs it, with nothing in it that could fake a line."""

from __future__ import annotations

import logging.config
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

_LONGEST_TEXT = 2_000
_LONGEST_TRACEBACK = 16_000


def configuration(*, role: str, level: str) -> dict[str, Any]:
    """The LOGGING dictionary of a process with this role."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _shared(role),
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    cap_lengths,
                    # ASCII only: control, escape and bidirectional characters come out as \uXXXX.
                    structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"level": level, "handlers": [], "propagate": True},
            "django.server": {"level": level, "handlers": [], "propagate": True},
            # Every retry of the pool and each heartbeat of the broker is noise at INFO.
            "psycopg.pool": {"level": "WARNING"},
            "amqp": {"level": "WARNING"},
            # Two lines for each wake-up, many a second.
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
        },
        "role": role,
    }


def configure(settings: dict[str, Any]) -> None:
    """Set up the standard library's logging and structlog alike (Django's LOGGING_CONFIG)."""
    role = settings["role"]
    logging.config.dictConfig({key: settings[key] for key in settings if key != "role"})
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(role),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # A cached logger would hide from tests that capture logs.
        cache_logger_on_first_use=role != "test",
    )


def cap_lengths(_logger: WrappedLogger, _name: str, event: EventDict) -> Mapping[str, Any]:
    """Cut long texts: a log line is for finding a message, not for holding it."""
    for key, value in event.items():
        longest = _LONGEST_TRACEBACK if key == "exception" else _LONGEST_TEXT
        if isinstance(value, str) and len(value) > longest:
            event[key] = f"{value[:longest]}… ({len(value)} characters)"
    return event


def _shared(role: str) -> list[Processor]:
    def add_role(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
        event["process"] = role
        return event

    return [
        structlog.contextvars.merge_contextvars,
        add_role,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
