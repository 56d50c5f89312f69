"""What an error says about a message, without what is redacted of that message's payload.

Done before it is written down, because lists, alerts, logs and exports tell errors without ever
reading the payload again.
"""

from __future__ import annotations

from monitor import conf
from monitor.domain.consumer import Consumer
from monitor.domain.rendering import RenderedError, render
from monitor.store.queue import Body

_LOOKED_AT = 65_536  # bytes of the payload whose hidden values are looked for


def told(error: BaseException, consumer: Consumer, body: Body) -> RenderedError:
    """The error as text that always fits the database and holds nothing that is redacted."""
    return render(error, lambda text: masked(text, consumer, body))


def masked(text: str, consumer: Consumer, body: Body) -> str:
    """A text of a handler with the hidden values of its message masked."""
    policy = conf.get().redaction.policy(body.source, consumer.name)
    payload = body.payload[:_LOOKED_AT].decode(errors="replace")
    return policy.mask(text, policy.values(payload))
