"""Whole page or only its live piece, from the same template; and the answer to a verb."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers

from dashboard import access, frame
from monitor.operations import Done

LAYOUT = "dashboard/layout.html"
PIECE = "dashboard/piece.html"
# After a verb every live area reads itself again: what is shown is what the database says.
REFRESH = json.dumps({"app:tick": {"target": "body"}})


def page(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """The page dashboard/<noun>/<name>.html, or its live piece when the live area asks for it."""
    stands_round = frame.context(request, name.partition("/")[0])
    mark = _mark(request, stands_round, context) if wants_piece(request) else ""
    response: HttpResponse
    if mark and request.headers.get("If-None-Match") == mark:
        response = HttpResponseNotModified()
    else:
        values = {**stands_round, "layout": PIECE if mark else LAYOUT, **context}
        response = render(request, f"dashboard/{name}.html", values)
    if mark:
        response["ETag"] = mark
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    # Pages hold payloads and keys: neither a proxy nor the back button may keep them.
    patch_cache_control(response, no_store=True, private=True)
    return response


def wants_piece(request: HttpRequest, area: str = "live") -> bool:
    """Whether this area of a shown page asks to be read again, not a browser that navigates."""
    return request.headers.get("HX-Target", "").endswith(f"#{area}")


def piece(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """The part dashboard/<name>.html of a page, for an area that reads itself again."""
    response = render(request, f"dashboard/{name}.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    patch_cache_control(response, no_store=True, private=True)
    return response


def _mark(request: HttpRequest, stands_round: dict[str, Any], context: dict[str, Any]) -> str:
    """A name for all that a live piece shows and for whom: while it is the same, so is the piece.

    Drawing a piece costs several times what reading its figures costs, and most are as they were.
    """
    actor = stands_round["actor"]
    whole = (
        request.get_full_path(),
        request.session.session_key,
        *(actor.name, sorted(actor.permissions), stands_round["zone"], timezone.localdate()),
        *(stands_round["language"], stands_round["alert_badge"]),
        context,
    )
    return f'"{blake2b(repr(whole).encode(), digest_size=16).hexdigest()}"'


def done(request: HttpRequest, what: Done) -> HttpResponse:
    """What was done, in words: a toast for htmx, else the page that goes on with it or says it."""
    url = "" if what.target is None else reverse("dashboard:requeues_detail", args=what.target[1:])
    if request.headers.get("HX-Request"):
        return _toast(request, what.text, tone="go", status=200, url=url)
    messages.success(request, what.text)
    response = redirect(url or access.back_to(request))
    response.status_code = 303
    return response


def refused(request: HttpRequest, text: str, *, status: int) -> HttpResponse:
    """Why nothing was done, in words; the shown row is read again."""
    if request.headers.get("HX-Request"):
        return _toast(request, text, tone="stop", status=status)
    values = {"text": text, "back": access.back_to(request)}
    return render(request, "dashboard/shared/refused.html", values, status=status)


def _toast(
    request: HttpRequest, text: str, *, tone: str, status: int, url: str = ""
) -> HttpResponse:
    values = {"text": text, "tone": tone, "url": url}
    response = render(request, "dashboard/shared/_toast.html", values, status=status)
    response["HX-Trigger"] = REFRESH
    return response
