"""The HTTP entrance in tests: sources of a test's own, requests as their senders make them."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from django.http import HttpResponse
from django.test import Client, override_settings

from monitor.domain.message import Message
from tests import engine
from tests.rows import one, rows, run

SECRET = "a-secret-of-the-tests"  # noqa: S105
TOKEN = {"Authorization": f"Bearer {SECRET}"}
BEARER = {"scheme": "bearer", "secrets": [{"env": "TEST_SECRET"}]}
GITHUB = {
    "kind": "http",
    "format": "github",
    "auth": {"scheme": "github", "secrets": [{"env": "TEST_SECRET"}]},
}
WEBHOOKS = {"scheme": "standard-webhooks", "secrets": [{"env": "TEST_WEBHOOK"}]}
EVENTS = {"kind": "http", "format": "cloudevents", "auth": BEARER}
PLAIN = {"kind": "http", "format": "json", "key": "id", "auth": BEARER}

_ENVIRONMENT = {
    "TEST_SECRET": SECRET,
    "TEST_OLD_SECRET": "the-secret-before",
    "TEST_WEBHOOK": "whsec_" + base64.b64encode(b"a webhook secret").decode(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the sender got."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def outcome(self) -> str:
        """The word that says what happened."""
        return str(self.body["outcome"])


@contextmanager
def configured(
    *, secrets: Mapping[str, str] | None = None, retention: Any = None, **sources: dict[str, Any]
) -> Iterator[None]:
    """Exactly these sources, and a value for the secrets that they name."""
    with ExitStack() as stack:
        environment = _ENVIRONMENT if secrets is None else secrets
        stack.enter_context(mock.patch.dict("os.environ", environment))
        values = {"sources": sources, "retention": retention or {}}
        stack.enter_context(override_settings(COMBOIO=values))
        yield


@contextmanager
def configured_effects(
    *, secrets: Mapping[str, str] | None = None, **auths: dict[str, Any]
) -> Iterator[None]:
    """Callbacks of exactly these effects, each with its auth, and a value for the secrets."""
    with ExitStack() as stack:
        environment = _ENVIRONMENT if secrets is None else secrets
        stack.enter_context(mock.patch.dict("os.environ", environment))
        values = {"effects": {name: {"auth": auth} for name, auth in auths.items()}}
        stack.enter_context(override_settings(COMBOIO=values))
        yield


def call_back(
    name: str, body: bytes | dict[str, Any], *, headers: Mapping[str, str] | None = None
) -> Answer:
    """POST to the callback of an effect, with the token of the tests unless headers are given."""
    response = Client().post(
        f"/effects/{name}/callback",
        body if isinstance(body, bytes) else json.dumps(body).encode(),
        content_type="application/json",
        headers=dict(TOKEN if headers is None else headers),
    )
    return _answer(response)


def post(
    source: str,
    body: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> Answer:
    """POST a body to a source, with the token of the tests unless headers are given."""
    response = Client(raise_request_exception=True).post(
        f"/ingest/{source}",
        body,
        content_type=content_type,
        headers=dict(TOKEN if headers is None else headers),
    )
    return _answer(response)


def get(source: str, key: str, *, headers: Mapping[str, str] | None = None, **query: str) -> Answer:
    """Ask what became of a key (already percent-encoded)."""
    response = Client().get(
        f"/ingest/{source}/{key}", query, headers=dict(TOKEN if headers is None else headers)
    )
    return _answer(response)


def github_headers(
    body: bytes, key: str, *, event: str = "issues", secret: str = SECRET
) -> dict[str, str]:
    """The headers of a webhook of GitHub."""
    signature = hmac.digest(secret.encode(), body, "sha256").hex()
    return {
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": key,
        "X-Hub-Signature-256": f"sha256={signature}",
    }


def webhook_headers(
    body: bytes, key: str, *, timestamp: int, secret: bytes = b"a webhook secret"
) -> dict[str, str]:
    """The headers of a sender that follows Standard Webhooks."""
    digest = hmac.digest(secret, f"{key}.{timestamp}.".encode() + body, "sha256")
    return {
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


@contextmanager
def effects(*sources: str) -> Iterator[list[str]]:
    """A consumer per source whose handler commits a row per effect; the consumers' names."""
    run("CREATE TABLE IF NOT EXISTS test_entrance_effect (consumer text, key text, origin text)")
    names = [f"{source}.effect" for source in sources]
    try:
        with ExitStack() as stack:
            for name, source in zip(names, sources, strict=True):
                stack.enter_context(engine.consuming(_handle, name=name, source=source))
            yield names
    finally:
        run("DROP TABLE test_entrance_effect")


def count_effects(**having: str) -> int:
    """How many effects there are after everything that could run has run."""
    engine.drain_all()
    where = " AND ".join(f"{name} = %({name})s" for name in having) or "true"
    return int(one(f"SELECT count(*) FROM test_entrance_effect WHERE {where}", **having))


def refused() -> dict[str, int]:
    """The counts of refusals so far, by "source:reason"."""
    found = rows(
        "SELECT label, sum(value)::int FROM comboio_rollup_delta WHERE name = 'refused' GROUP BY 1"
    )
    return dict(found)


def stored() -> int:
    """How many messages are stored, of any consumer."""
    return int(one("SELECT count(*) FROM comboio_message"))


def mismatches() -> int:
    """How many mismatch records there are."""
    return int(one("SELECT count(*) FROM comboio_mismatch"))


def _handle(payload: Any, message: Message) -> dict[str, str]:
    run(
        "INSERT INTO test_entrance_effect VALUES (%(consumer)s, %(key)s, %(origin)s)",
        consumer=message.consumer,
        key=message.key,
        origin=message.origin,
    )
    return {"key": message.key}


def _answer(response: HttpResponse) -> Answer:
    body = response.json() if response.content else {}  # type: ignore[attr-defined]
    return Answer(status=response.status_code, body=body, headers=dict(response.headers))
