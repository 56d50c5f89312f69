"""Who may see a page and use a verb. Every view of the console is wrapped by one of these two."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from monitor.domain.actor import Actor, Permission
from monitor.operations.actor import actor_of
from monitor.reports.errors import CursorError, ReportTimeoutError

Rest = ParamSpec("Rest")
View = Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]
NO_ACCESS = "dashboard/shared/no_access.html"
NO_ANSWER = "dashboard/shared/no_answer.html"


def page(view: View[Rest]) -> View[Rest]:
    """A page for those who may view: reads only, in the viewer's zone."""

    @require_safe
    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        with timezone.override(zone(request)):
            try:
                return _stranger(request) or view(request, *args, **kwargs)
            except ReportTimeoutError as error:
                return _too_slow(request, error)
            except CursorError as error:
                return render(request, NO_ANSWER, {"text": str(error)}, status=400)

    return _checks_login_itself(guarded)


def verb(view: View[Rest]) -> View[Rest]:
    """A verb, by POST only. The operation itself checks the permission for it."""

    @require_POST
    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        with timezone.override(zone(request)):
            try:
                return _stranger(request) or view(request, *args, **kwargs)
            except ReportTimeoutError as error:
                return _too_slow(request, error)

    return _checks_login_itself(guarded)


def actor(request: HttpRequest) -> Actor:
    """The signed-in person as the operations know people, with the click of the form they sent."""
    return replace(actor_of(request.user), click=_click(request))


def may(request: HttpRequest, permission: Permission) -> bool:
    """Whether the signed-in person has this permission."""
    return permission in actor(request).permissions


def zone(request: HttpRequest) -> zoneinfo.ZoneInfo:
    """The zone the viewer chose (cookie tz), else UTC."""
    name = request.COOKIES.get("tz", "UTC")
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return zoneinfo.ZoneInfo("UTC")


def back_to(request: HttpRequest) -> str:
    """The page the form was sent from, if it is one of ours; else the overview."""
    wanted = request.POST.get("next", "")
    allowed = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()})
    return wanted if allowed and wanted.startswith("/") else reverse("dashboard:overview")


def _click(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.POST.get("click", ""))
    except ValueError:
        return None  # a script without one: the seen version guards it all the same


def _checks_login_itself(view: View[Rest]) -> View[Rest]:
    # A login middleware would send a stranger's POST back to an address that only takes POST.
    return login_not_required(view)


def _stranger(request: HttpRequest) -> HttpResponse | None:
    user: User | AnonymousUser = request.user
    if not user.is_authenticated:
        return _to_login(request)
    if not may(request, Permission.VIEW):
        text = _("You are signed in, but you may not see the console yet.")
        return render(request, NO_ACCESS, {"text": text}, status=403)
    return None


def _too_slow(request: HttpRequest, error: ReportTimeoutError) -> HttpResponse:
    """Which limit ended it, and two ways on: the same again, or the list from its start."""
    again = request.get_full_path() if request.method == "GET" else ""
    values = {"text": str(error), "again": again}
    return render(request, NO_ANSWER, values, status=503)


def _to_login(request: HttpRequest) -> HttpResponse:
    """A redirect; htmx is told to load the whole login page, never to swap it into a table."""
    if request.headers.get("HX-Request"):
        shown = urlsplit(request.headers.get("HX-Current-URL", ""))
        wanted = f"{shown.path}?{shown.query}" if shown.query else shown.path
        return HttpResponse(status=401, headers={"HX-Redirect": _login_url(wanted)})
    if request.method == "POST":
        return HttpResponseRedirect(_login_url(back_to(request)))
    return HttpResponseRedirect(_login_url(request.get_full_path()))


def _login_url(wanted: str) -> str:
    return f"{reverse('login')}?{urlencode({'next': wanted})}"
