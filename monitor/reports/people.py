"""Who can be given something to look after."""

from __future__ import annotations

from typing import Any

from django.contrib import auth

from monitor.domain.actor import Permission

_MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
_MOST = 500


def operators() -> tuple[str, ...]:
    """The names of those who may operate, in order; at most 500."""
    backend: Any = auth.load_backend(_MODEL_BACKEND)
    found = backend.with_perm(f"monitor.{Permission.OPERATE}")
    field = auth.get_user_model().USERNAME_FIELD
    return tuple(found.order_by(field).values_list(field, flat=True)[:_MOST])
