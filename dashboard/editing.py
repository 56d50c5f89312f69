"""The editor of a dead message's text: what was typed is never lost by a refusal."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard import access, forms, previews, render
from dashboard.previews import Told
from monitor.domain.actor import Permission
from monitor.domain.consumer import NO_CONSUMER
from monitor.domain.errors import RefusedError
from monitor.operations.transaction import BusyError
from monitor.reports import corrections
from monitor.reports import preview as report
from monitor.reports.corrections import Current
from monitor.reports.messages import MessageRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What a person typed. revision: the text that the form began with."""

    text: str
    reason: str
    is_raw: bool
    revision: int
    has_returns: bool

    @property
    def payload(self) -> bytes:
        """The text in bytes, with the line ends that it had: a browser sends CR LF for each."""
        text = self.text.replace("\r\n", "\n")
        return (text.replace("\n", "\r\n") if self.has_returns else text).encode(errors="replace")


def typed(request: HttpRequest) -> Typed:
    """The fields of the editor."""
    return Typed(
        text=request.POST.get("text", ""),
        reason=forms.reason(request),
        is_raw=request.POST.get("raw") == "1",
        revision=forms.whole(request.POST.get("revision")) or 1,
        has_returns=request.POST.get("returns") == "1",
    )


def page(
    request: HttpRequest,
    current: Current,
    message_id: int,
    *,
    given: Typed | None = None,
    refusal: str = "",
) -> HttpResponse:
    """The editor with the current text, or with the given one after a refusal."""
    may = access.may(request, Permission.REVEAL_PAYLOAD)
    is_theirs = given is not None and current.revision > given.revision
    values = {
        "id": message_id,
        "current": current,
        "may_edit": may and access.may(request, Permission.DECIDE),
        "typed": given,
        "text": given.text if given else current.text,
        "refusal": refusal,
        "has_returns": given.has_returns if given else "\r" in (current.text or ""),
        "other": current if is_theirs and may else None,
        "preview": _preview(message_id, current.session_id, current.consumer_id),
        "live_url": reverse("dashboard:messages_correct", args=[message_id]),
        "back": reverse("dashboard:messages_detail", args=[message_id]),
    }
    return render.page(request, "messages/correct", values)


def refused(
    request: HttpRequest, message_id: int, given: Typed, error: RefusedError
) -> HttpResponse:
    """The editor again, with what was typed: 409 when the message changed, 422 for the text."""
    current = corrections.current(message_id)
    is_stale = current is None or current.seen != forms.seen(request)
    status = 409 if is_stale or isinstance(error, BusyError) else 422
    if current is None or request.headers.get("HX-Request"):
        return render.refused(request, str(error), status=status)
    response = page(request, current, message_id, given=given, refusal=str(error))
    response.status_code = status
    return response


def preview(row: MessageRow) -> Told | None:
    """What runs next when a dead message is requeued or replayed."""
    return _preview(row.id, row.session_id, row.consumer_id)


def _preview(message_id: int, session_id: int | None, consumer_id: int) -> Told | None:
    if consumer_id == NO_CONSUMER:
        return None  # it is routed anew: whom it goes to is not known before
    found = report.of_requeue(message_id, session_id, consumer_id)
    return None if found is None else previews.told(_("Requeue or replay"), found)
