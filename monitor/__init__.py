"""The handler author's whole API. It imports no models, so it may be imported anywhere."""

from monitor.domain.effect import Call, Effect, EffectRefused, Evidence, NotDone, Told
from monitor.domain.errors import DeadLetter, DownstreamAway, RetryLater, Skip
from monitor.domain.message import Message
from monitor.domain.order import Numbered, Priority
from monitor.domain.projection import Fingerprint
from monitor.domain.retry import Retry
from monitor.engine.http_call import http_effect
from monitor.engine.registry import consumer

__all__ = [
    "Call",
    "DeadLetter",
    "DownstreamAway",
    "Effect",
    "EffectRefused",
    "Evidence",
    "Fingerprint",
    "Message",
    "NotDone",
    "Numbered",
    "Priority",
    "Retry",
    "RetryLater",
    "Skip",
    "Told",
    "consumer",
    "http_effect",
]
