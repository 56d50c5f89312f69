"""The sources of a run, as its comboio.toml declares them."""

from __future__ import annotations

from proof.workload.plan import HTTP, QUEUE

_POSTED = f"""\
[sources.{HTTP}]
kind = "http"
format = "cloudevents"
unsigned = true
"""
_QUEUED = f"""
[sources.{QUEUE}]
kind = "amqp"
url_env = "BROKER_URL"
queue = "{QUEUE}"
"""


def toml(*, has_queue: bool) -> str:
    """The text of comboio.toml, with the queue where there is a broker."""
    return _POSTED + (_QUEUED if has_queue else "")
