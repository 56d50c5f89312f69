"""The policy of a consumer in words, as its handler declares it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _


def told(policy: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a policy says: what is not declared is left out, but for the order of its sessions."""
    return list(_rows(policy))


def _rows(policy: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    numbered = policy.get("numbered")
    if numbered:
        text = _("by number from %(start)s on; a gap is told after %(seconds)s s")
        facts = {"start": numbered["starts_at"], "seconds": numbered["gap_seconds"]}
        yield _("Order"), text % facts
    else:
        yield _("Order"), _("of arrival")
    known = {
        "session": _("Session"),
        "concurrency": _("Sessions at once, at most"),
        "priority": _("Priority by"),
        "version": _("Absolute states, version"),
    }
    for name, word in known.items():
        if policy.get(name) is not None:
            yield word, str(policy[name])
    if policy.get("check_session"):
        yield _("Session checked"), _("yes, before each run")
    for name, value in sorted(policy.items()):
        if name not in {*known, "numbered", "check_session"} and value is not None:
            yield name, str(value)
