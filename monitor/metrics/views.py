"""GET /metrics, for Prometheus only: with the token, or from this machine when there is none."""

from __future__ import annotations

import hmac
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder

from monitor.metrics.collector import REGISTRY

# A proxy in front makes every caller look local; these headers give it away.
_FORWARDING = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Every metric in the format that the scraper asks for; 401 or 403 to others."""
    refusal = _refusal(request)
    if refusal is not None:
        return refusal
    try:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    except (TypeError, ValueError):  # a version that is none; the library compares it all the same
        encode, content_type = generate_latest, CONTENT_TYPE_PLAIN_0_0_4
    return HttpResponse(encode(REGISTRY), content_type=content_type)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    token = getattr(settings, "COMBOIO_METRICS_TOKEN", "")
    if token:
        return None if _has_token(request, token) else _unauthorized()
    if any(name in request.headers for name in _FORWARDING) or not _is_local(request):
        text = "Set COMBOIO_METRICS_TOKEN to read /metrics from elsewhere than this machine.\n"
        return HttpResponse(text, status=403, content_type="text/plain; charset=utf-8")
    return None


def _has_token(request: HttpRequest, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    # Bytes: compare_digest refuses text that is not ASCII.
    is_equal = hmac.compare_digest(given.strip().encode(errors="replace"), token.encode())
    return scheme.lower() == "bearer" and is_equal


def _unauthorized() -> HttpResponse:
    text = "This needs the bearer token of COMBOIO_METRICS_TOKEN.\n"
    response = HttpResponse(text, status=401, content_type="text/plain; charset=utf-8")
    response.headers["WWW-Authenticate"] = 'Bearer realm="metrics"'
    return response


def _is_local(request: HttpRequest) -> bool:
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
