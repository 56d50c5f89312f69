"""Whether the database keeps what it commits, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from monitor.reports.system import Durability


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """One sentence. tone: go, caution (the last second may go) or stop (anything may go)."""

    tone: str
    text: str


def keeping(found: Durability) -> Keeping:
    """What a reader of the console should know about the database's commits."""
    facts = {"version": found.version, "off": _off(found)}
    if found.refused:
        text = _(
            "PostgreSQL %(version)s runs with %(off)s: it may lose what it said was committed."
        )
        return Keeping(tone="stop", text=f"{text % facts} {_admitted()}")
    if found.is_late:
        text = _(
            "PostgreSQL %(version)s runs with %(off)s: what was accepted or done in the last "
            "second before a crash of the server may be lost."
        )
        return Keeping(tone="caution", text=text % facts)
    text = _("PostgreSQL %(version)s keeps what it commits: no setting that matters is off.")
    return Keeping(tone="go", text=text % facts)


def _off(found: Durability) -> str:
    return ", ".join(f"{name} = off" for name in found.off)


def _admitted() -> str:
    if getattr(settings, "COMBOIO_UNSAFE_DATABASE", False):
        return _("COMBOIO_UNSAFE_DATABASE=1 admits it: for tests only.")
    return _("The next start of a process will be refused: turn it on.")
