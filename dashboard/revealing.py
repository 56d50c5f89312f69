"""One look at the whole of what is redacted: by POST, because each look is an act that stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard import access, editing, forms, render
from monitor.domain.actor import Permission
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.operations import revealing
from monitor.reports import corrections, payloads, revealed
from monitor.reports.payloads import PayloadView
from monitor.reports.revealed import Part, Revealed


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled:
    """A part under its heading."""

    title: str
    view: PayloadView | None
    pairs: tuple[tuple[str, str], ...]


@access.verb
def message(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Payload, corrections, result and headers of a message; or its text in the editor."""
    may_edit = access.may(request, Permission.DECIDE)
    if request.POST.get("edit") != "1" or not may_edit:
        return _page(request, ("message", id), revealed.of_message, "messages_detail")
    if corrections.current(id) is None:
        raise Http404
    return _noted(request, ("message", id), "edited", lambda: _editor(request, id))


@access.verb
def mismatch(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Both payloads of a mismatch."""
    return _page(request, ("mismatch", id), revealed.of_mismatch, "mismatches_detail")


@access.verb
def effect(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """Request, answer and evidence of an effect."""
    return _page(request, ("effect", id), revealed.of_effect, "reconcile_detail")


@access.verb
def download(request: HttpRequest, id: int) -> HttpResponse:  # noqa: A002
    """The payload byte for byte, never shown by the browser as what it claims to be."""
    found = payloads.raw(id)
    if found is None:
        raise Http404
    headers = {
        "Content-Disposition": f'attachment; filename="message-{id}.bin"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store, private",
    }
    return _noted(
        request,
        ("message", id),
        "downloaded",
        lambda: HttpResponse(
            found.payload, content_type="application/octet-stream", headers=headers
        ),
    )


def _page(
    request: HttpRequest, what: tuple[str, int], read: Callable[[int], Revealed | None], back: str
) -> HttpResponse:
    found = read(what[1])
    if found is None:
        raise Http404
    values = {
        "title": found.title,
        "parts": [Titled(title=_title(e), view=e.view, pairs=e.pairs) for e in found.parts],
        "back": reverse(f"dashboard:{back}", args=[what[1]]),
    }
    return _noted(request, what, "shown", lambda: render.page(request, "shared/revealed", values))


def _noted(
    request: HttpRequest, what: tuple[str, int], how: str, show: Callable[[], HttpResponse]
) -> HttpResponse:
    """The answer, once the look is written down; or why there is none."""
    try:
        revealing.note_reveal(access.actor(request), what, how=how, reason=forms.reason(request))
    except PermissionRefusedError as error:
        return render.refused(request, str(error), status=403)
    except RefusedError as error:
        return render.refused(request, str(error), status=409)
    return show()


def _editor(request: HttpRequest, message_id: int) -> HttpResponse:
    current = corrections.current(message_id, is_whole=True)
    if current is None:
        raise Http404
    return editing.page(request, current, message_id)


def _title(part: Part) -> str:
    known = {
        "payload": _("Payload as it was accepted"),
        "revision": _("Revision %(number)d"),
        "result": _("Result"),
        "headers": _("Headers"),
        "first": _("First payload"),
        "second": _("Second payload"),
        "request": _("What was asked of the provider"),
        "answer": _("Its answer"),
        "evidence": _("Evidence"),
    }
    if part.what == "headers" and part.number:
        return _("Headers of the first") if part.number == 1 else _("Headers of the second")
    return known[part.what] % {"number": part.number}
