"""What every request passes: login, the age of its session, nothing kept in caches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url

Respond = Callable[[HttpRequest], HttpResponseBase]

# These check their callers by themselves: signatures, tokens, or nothing to hide.
_OPEN = ("/ingest/", "/effects/", "/metrics", "/healthz", "/readyz")
_STARTED = "started_at"
_RENEWED = "renewed_at"
_RENEW_SECONDS = 60


class NoStoreMiddleware:
    """Pages may hold payloads: nobody keeps them, unless a view says otherwise."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The response, marked as not to be kept."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class SessionLifetimeMiddleware:
    """Ends a session after some hours, and renews it only by what a person does."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The response, to nobody in particular when the session was too old."""
        if request.user.is_authenticated:
            now = time.time()
            session = request.session
            if now - session.setdefault(_STARTED, now) > settings.SESSION_LIFETIME_SECONDS:
                logout(request)
            elif _is_by_hand(request) and now - session.get(_RENEWED, 0) > _RENEW_SECONDS:
                session[_RENEWED] = now  # Saving the session moves its end.
        return self.get_response(request)


class LoginMiddleware(LoginRequiredMiddleware):
    """Every page wants a login, so that a new one cannot be forgotten."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Let the open addresses pass, send everybody else to the login."""
        if request.path.startswith(_OPEN):
            return None
        refusal = super().process_view(request, view_func, view_args, view_kwargs)
        if refusal is not None and request.headers.get("HX-Request") == "true":
            # A live piece of a page must not show the login form in itself: send the whole page.
            address = resolve_url(settings.LOGIN_URL)
            return HttpResponse(status=401, headers={"HX-Redirect": address})
        return refusal


def _is_by_hand(request: HttpRequest) -> bool:
    """False for the page's own refreshing: an unattended screen must not keep its session."""
    if request.method != "GET" or request.headers.get("HX-Boosted") == "true":
        return True
    return request.headers.get("HX-Request") != "true"
