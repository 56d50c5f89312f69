"""A planned delivery as the HTTP request that its provider would send."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from examples.demo.plan import Flaw, Planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the two sources share with their senders."""

    payments: str = field(repr=False)
    github: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One POST."""

    path: str
    headers: Mapping[str, str]
    body: bytes


def build(planned: Planned, secrets: Secrets) -> Request:
    """The request of a delivery: GitHub signs its body, payments carry a bearer token."""
    body = planned.body.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "comboio-demo"}
    if planned.source == "github":
        secret = "wrong" if planned.flaw is Flaw.SIGNATURE else secrets.github
        headers["X-GitHub-Event"] = planned.type
        headers["X-GitHub-Delivery"] = planned.key
        headers["X-Hub-Signature-256"] = sign(secret, body)
    else:
        headers["Authorization"] = f"Bearer {secrets.payments}"
    return Request(path=f"/ingest/{planned.source}", headers=headers, body=body)


def sign(secret: str, body: bytes) -> str:
    """GitHub's signature of a body."""
    return "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()
