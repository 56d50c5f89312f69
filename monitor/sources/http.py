"""The address /ingest/<source>: lets a request in, hands it to the engine, tells the sender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

import structlog
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from monitor import conf
from monitor.domain import keys
from monitor.domain.message import Delivery
from monitor.domain.source import HttpSource
from monitor.engine import ingest
from monitor.sources import (
    answers,
    cloudevents,
    entrance,
    github,
    look_up,
    plain_json,
    refusals,
    signatures,
)
from monitor.sources.answers import Told
from monitor.sources.cloudevents import Item
from monitor.sources.envelope import CONTENT_TYPE_CHARACTERS, Envelope
from monitor.sources.refusal import Reason, Refusal

Act: TypeAlias = Callable[[HttpRequest, HttpSource], HttpResponse]

log = structlog.get_logger("comboio")


@csrf_exempt
@login_not_required
@transaction.non_atomic_requests
@require_POST
def deliver(request: HttpRequest, source: str) -> HttpResponse:
    """Take a message or a batch: 202, 200, 207 or 422 once committed, a refusal otherwise.

    Whatever the input, the answer is in words and nothing is stored on a refusal.
    """
    return _answer(request, source, _deliver)


@login_not_required
@transaction.non_atomic_requests
@require_GET
def find(request: HttpRequest, source: str, key: str) -> HttpResponse:
    """State and result of a message, for a sender with the source's credentials; 404 unknown."""

    def find_key(request: HttpRequest, source: HttpSource) -> HttpResponse:
        return _find(request, source, key)

    return _answer(request, source, find_key)


def _answer(request: HttpRequest, name: str, act: Act) -> HttpResponse:
    try:
        return act(request, _source(name))
    except Exception as error:  # the edge of the product: whatever it is, its sender gets an answer
        refusal = entrance.refusal_of(name, error)
    refusals.count(name, refusal)
    return answers.of_refusal(refusal)


def _source(name: str) -> HttpSource:
    source = conf.get().http(name)
    if source is None:
        raise Refusal(Reason.UNKNOWN_SOURCE, "There is no such source.")
    return source


def _deliver(request: HttpRequest, source: HttpSource) -> HttpResponse:
    envelope = _open(request, source)
    items = _read(envelope)
    deliveries = [item for item in items if isinstance(item, Delivery)]
    receipts = ingest.receive(deliveries, ignore_unrouted=source.unrouted == "ignore")
    results = look_up.results(each for group in receipts for each in group)
    told = [answers.of_delivery(group, results) for group in receipts]
    for delivery, (_, body) in zip(deliveries, told, strict=True):
        _log(delivery, body)
    if cloudevents.is_batch(envelope) and source.format == "cloudevents":
        rest = iter(told)
        return answers.of_batch([_batch_item(source, item, rest) for item in items])
    status, body = told[0]
    if body["outcome"] == "refused":
        raise Refusal(Reason.MALFORMED, body["detail"])
    return JsonResponse(body, status=status)


def _batch_item(source: HttpSource, item: Item, told: Iterator[Told]) -> Told:
    answer = next(told) if isinstance(item, Delivery) else answers.refused_item(str(item))
    if answer[1]["outcome"] == "refused":
        refusals.count(source.name, Refusal(Reason.MALFORMED, answer[1]["detail"]))
    return answer


def _open(request: HttpRequest, source: HttpSource) -> Envelope:
    """The request of a known sender, as the formats read it."""
    opened = entrance.open_request(request, source)
    content_type = opened.headers.get("content-type", "").strip()
    if len(content_type) > CONTENT_TYPE_CHARACTERS or not content_type.isprintable():
        raise Refusal(Reason.MEDIA_TYPE, "Content-Type: this cannot be a media type.")
    return Envelope(
        source=source,
        headers=opened.headers,
        body=opened.body,
        content_type=content_type,
        key=_guard(source, opened.proof),
        secret=opened.proof.secret,
    )


def _guard(source: HttpSource, proof: signatures.Proof) -> str:
    """The key that a replay guard gives: a name for exactly what was signed."""
    if not source.replay_guard:
        return ""
    return f"signed:{blake2b(proof.signed, digest_size=16).hexdigest()}"


def _read(envelope: Envelope) -> Sequence[Item]:
    if envelope.source.format == "cloudevents":
        return cloudevents.read(envelope)
    if envelope.source.format == "github":
        return [github.read(envelope)]
    return [plain_json.read(envelope)]


def _find(request: HttpRequest, source: HttpSource, key: str) -> HttpResponse:
    headers = entrance.lower_case(request)
    if source.auth is None:
        # Everyone may send; that is no leave to read what handlers returned.
        raise Refusal(Reason.UNAUTHENTICATED, "An unsigned source has no look-up.")
    if source.auth.scheme == "bearer":
        signatures.check_token(source, headers)
    else:
        # There is no body to sign: the key stands in for it.
        signatures.check_signature(source, headers, key.encode("utf-8", "replace"))
    origin = request.GET.get("origin") or source.origin or source.name
    keys.check_key(key)
    keys.check_origin(origin)
    found = look_up.by_key(source, origin, key)
    body = {"key": key, "origin": origin, "consumers": found}
    return JsonResponse(body, status=200 if found else 404)


def _log(delivery: Delivery, told: dict[str, Any]) -> None:
    log.info(
        "delivery_judged",
        source=delivery.source,
        dedup_key=delivery.key,
        message_id=told.get("message"),
        session=delivery.session,
        correlation_id=delivery.correlation_id,
        traceparent=delivery.traceparent,
        outcome=str(told["outcome"]),
    )
