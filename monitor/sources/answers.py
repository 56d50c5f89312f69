"""What a sender is told: receipts as status and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from django.http import HttpResponse, JsonResponse

from monitor.domain.message import Receipt
from monitor.domain.states import Verdict
from monitor.sources.refusal import Reason, Refusal

RETRY_AFTER_SECONDS = 5

_ACCEPTED, _OK, _MULTI, _CONFLICT, _MALFORMED, _UNAVAILABLE = 202, 200, 207, 422, 400, 503
_STATUS = {
    Verdict.NEW: _ACCEPTED,
    Verdict.MISMATCH: _CONFLICT,
    Verdict.REFUSED: _MALFORMED,
    Verdict.DUPLICATE: _OK,
}
# One delivery for several consumers: the first of these verdicts that any of them gave.
_DECIDING = tuple(_STATUS)

Results: TypeAlias = Mapping[int, Any]
Told: TypeAlias = tuple[int, dict[str, Any]]  # status and body


def of_delivery(receipts: Sequence[Receipt], results: Results) -> Told:
    """Status and body for one delivery; results are those of messages that are done, by id."""
    if not receipts:
        return _OK, {"outcome": "ignored"}
    deciding = min(receipts, key=lambda receipt: _DECIDING.index(receipt.verdict))
    body = _told(deciding, results)
    if len(receipts) > 1:
        body["consumers"] = [
            {"consumer": each.consumer, **_told(each, results)} for each in receipts
        ]
    return _STATUS[deciding.verdict], body


def of_batch(items: Sequence[Told]) -> JsonResponse:
    """202 for a batch, 207 when an item was not taken, 400 when none was; items in their order."""
    body = [{"status": status, **told} for status, told in items]
    taken = [status < _MALFORMED for status, _ in items]
    status = _ACCEPTED if all(taken) else _MULTI if any(taken) else _MALFORMED
    return JsonResponse({"items": body}, status=status)


def of_refusal(refusal: Refusal) -> HttpResponse:
    """The refusal in words; 503 says when to come again, 401 how to prove oneself."""
    response = JsonResponse(
        {"outcome": "refused", "reason": refusal.reason, "detail": str(refusal)},
        status=refusal.status,
    )
    if refusal.status == _UNAVAILABLE:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if refusal.reason is Reason.UNAUTHENTICATED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def refused_item(text: str) -> Told:
    """Status and body of an event of a batch that breaks a rule."""
    return _MALFORMED, {"outcome": "refused", "reason": Reason.MALFORMED, "detail": text}


def _told(receipt: Receipt, results: Results) -> dict[str, Any]:
    if receipt.verdict is Verdict.REFUSED:
        return refused_item(receipt.reason)[1]
    told: dict[str, Any] = {"outcome": receipt.verdict, "message": receipt.message_id}
    if receipt.verdict is Verdict.NEW:
        return told
    told["first_seen"] = receipt.first_seen
    told["state"] = receipt.state
    if receipt.message_id in results:
        told["result"] = results[receipt.message_id]
    return told
