"""AMQP messages and source settings for the tests of the mapping."""

from __future__ import annotations

from typing import Any

from monitor.domain.message import Delivery
from monitor.domain.settings import AmqpSource
from monitor.sources.amqp_delivery import Letter, Mapper


def amqp_source(**changes: Any) -> AmqpSource:
    """The settings of a source called payments, with what the test changes."""
    wanted = {"name": "payments", "url_env": "TEST_AMQP_URL", "queue": "payments", **changes}
    return AmqpSource(**wanted)


def letter(body: bytes | str = b"{}", **changes: Any) -> Letter:
    """A message with a message id, unless the test gives other properties."""
    raw = body.encode() if isinstance(body, str) else body
    return Letter(**{"body": raw, "properties": {"message_id": "m-1"}, **changes})


def deliver(sent: Letter, **settings: Any) -> Delivery:
    """What a source with these settings makes of a message."""
    return Mapper(amqp_source(**settings)).deliver(sent)
