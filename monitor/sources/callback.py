"""The address /effects/<name>/callback: a provider tells, signed, what became of a call."""

from __future__ import annotations

from typing import Any, NamedTuple

import structlog
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from monitor import conf
from monitor.domain.callback import Callback
from monitor.domain.effect import Evidence, Told
from monitor.domain.strict_json import parse_json
from monitor.engine import verdict
from monitor.engine.verdict import Outcome, Settled
from monitor.sources import answers, entrance, refusals
from monitor.sources.refusal import Reason, Refusal
from monitor.store import connections, reconciling

RETRY_AFTER_SECONDS = 5
MAX_DEPTH = 20
REFERENCE_CHARACTERS = 200

_OK, _UNKNOWN, _CONFLICT, _TOO_EARLY = 200, 404, 409, 425
_STATUS = {
    Settled.SETTLED: _OK,
    Settled.AGREES: _OK,
    Settled.OPEN: _OK,
    Settled.CONFLICT: _CONFLICT,
    Settled.TOO_EARLY: _TOO_EARLY,
    Settled.GONE: _UNKNOWN,
}
_TOLD = {each.value: each for each in (Told.DONE, Told.NOT_DONE, Told.REFUSED)}
_MEMBERS = {"key", "told", "result", "reference"}

log = structlog.get_logger("comboio")


class _Claim(NamedTuple):
    """What the provider says, about which key."""

    key: str
    evidence: Evidence


@csrf_exempt
@login_not_required
@transaction.non_atomic_requests
@require_POST
def receive(request: HttpRequest, name: str) -> HttpResponse:
    """Settle an effect by what its provider says: 200, or what else it should know.

    409: it contradicts a decision (kept as evidence, a person is told). 425: “not done” so soon
    after the call proves nothing, say it again later. 404: no such effect. The same callback again
    is answered with 200.
    """
    try:
        return _receive(request, _callback(name))
    except Exception as error:  # the edge of the product: whatever it is, its sender gets an answer
        refusal = entrance.refusal_of(f"effects/{name}", error)
    refusals.count(f"effects/{name}", refusal)
    return answers.of_refusal(refusal)


def _callback(name: str) -> Callback:
    callback = conf.get().effects.get(name)
    if callback is None:
        raise Refusal(Reason.UNKNOWN_SOURCE, "There is no such effect.")
    return callback


def _receive(request: HttpRequest, callback: Callback) -> HttpResponse:
    opened = entrance.open_request(request, callback)
    claim = _read(parse_json(opened.body, MAX_DEPTH), opened.proof.secret)
    with transaction.atomic(durable=True):
        cursor = connections.shared_cursor()
        effect_id = reconciling.by_key(cursor, callback.name, claim.key)
        outcome = (
            Outcome(kind=Settled.GONE)
            if effect_id is None
            else verdict.settle(cursor, effect_id, claim.evidence, source="callback")
        )
    log.info(
        "callback_judged",
        effect=callback.name,
        effect_id=effect_id,
        message_id=outcome.message_id,
        told=str(claim.evidence.told),
        outcome=str(outcome.kind),
    )
    return _answer(outcome)


def _answer(outcome: Outcome) -> HttpResponse:
    body: dict[str, Any] = {"outcome": outcome.kind}
    if outcome.kind is not Settled.GONE:
        body["state"] = outcome.state
    response = JsonResponse(body, status=_STATUS[outcome.kind])
    if outcome.kind is Settled.TOO_EARLY:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response


def _read(value: Any, secret: str) -> _Claim:
    """The claim in a body. Refusal: 400 that names the member."""
    if not isinstance(value, dict):
        raise Refusal(Reason.MALFORMED, "The body is no JSON object.")
    unknown = sorted(set(value) - _MEMBERS)
    if unknown:
        raise Refusal(
            Reason.MALFORMED,
            f"“{unknown[0][:100]}” is unknown. Known: {', '.join(sorted(_MEMBERS))}.",
        )
    key, reference = value.get("key"), value.get("reference", "")
    if not isinstance(key, str) or not key or "\x00" in key:
        raise Refusal(Reason.NO_KEY, "key: the idempotency key of the call is needed.")
    told = value.get("told")
    if not isinstance(told, str) or told not in _TOLD:
        raise Refusal(Reason.MALFORMED, f"told: one of these is needed: {', '.join(_TOLD)}.")
    if not isinstance(reference, str) or len(reference) > REFERENCE_CHARACTERS:
        raise Refusal(
            Reason.MALFORMED, f"reference: a text of at most {REFERENCE_CHARACTERS} characters."
        )
    detail = {"secret": secret} if secret else {}
    result = _plain(value.get("result"))
    evidence = Evidence(told=_TOLD[told], result=result, reference=reference, detail=detail)
    return _Claim(key, evidence)


def _plain(value: Any) -> Any:
    """A result that can be stored as JSON again: numbers too long for a float are kept as text."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, bool | float | str) or value is None:
        return value
    return value if isinstance(value, int) and abs(value) < 2**63 else str(value)
