"""GitHub webhooks: the delivery id is the key, the event is the type."""

from __future__ import annotations

from monitor.domain.fingerprint import parse_json
from monitor.domain.message import Delivery
from monitor.sources import base
from monitor.sources.envelope import Envelope, Identity, check_json, deliver, needed_header
from monitor.sources.refusal import Refusal


def read(envelope: Envelope) -> Delivery:
    """The delivery of a webhook.

    Refusal 415 for form encoding, 400 without event or delivery id; RejectedDeliveryError for a
    body or a value that breaks a rule. GitHub does not sign the delivery id: see replay_guard.
    """
    check_json(envelope)
    return deliver(
        envelope,
        Identity(
            key=envelope.key or _key(envelope), type=needed_header(envelope, "X-GitHub-Event")
        ),
        envelope.body,
        content_type=envelope.content_type or "application/json",
        body=parse_json(envelope.body, envelope.source.max_depth),
    )


def _key(envelope: Envelope) -> str:
    try:
        return needed_header(envelope, "X-GitHub-Delivery")
    except Refusal:
        if envelope.source.missing_key == "derive":
            return base.body_key(envelope.body)
        raise
