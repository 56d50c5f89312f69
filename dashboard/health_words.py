"""The database's health in sentences: clocks that differ, transactions that stay open."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from dashboard import words
from monitor.reports.system import System

SKEWED_SECONDS = 1.0
OLD_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence and its tone: go or caution."""

    tone: str
    text: str


def clocks(system: System) -> Told:
    """The largest difference between the database's clock and that of web or a live process."""
    skews = [(abs(system.skew_seconds), system.skew_seconds, _("this web process"))]
    for row in system.workers:
        if row.is_live and row.skew_seconds is not None:
            name = f"{row.process} {row.pid}, {row.host}"
            skews.append((abs(row.skew_seconds), row.skew_seconds, name))
    _size, skew, name = max(skews)
    facts = {"name": words.visible(name), "skew": difference(skew)}
    if abs(skew) < SKEWED_SECONDS:
        text = _("All clocks agree; the largest difference is %(skew)s.")
        return Told(tone="go", text=text % facts)
    text = _(
        "The clock of %(name)s differs from the database's by %(skew)s. What is decided goes by "
        "the database's; the times in logs and the age of signatures go by the other."
    )
    return Told(tone="caution", text=text % facts)


def difference(seconds: float) -> str:
    """A difference of clocks, as "0.4 ms" or "3.2 s"; a minus: behind the database's."""
    sign = "\N{MINUS SIGN}" if seconds < 0 else ""
    return f"{sign}{words.milliseconds(abs(seconds) * 1000)}"


def upkeep(system: System) -> Told:
    """Whether a transaction is open for so long that dead rows pile up behind it."""
    oldest = _oldest(system)
    if oldest is None:
        return Told(tone="go", text=_("No other transaction is open."))
    age = (system.now - oldest).total_seconds()
    facts = {"age": words.duration(age)}
    if age < OLD_SECONDS:
        text = _("The oldest open transaction began %(age)s ago: upkeep can clean behind it.")
        return Told(tone="go", text=text % facts)
    text = _(
        "A transaction is open for %(age)s: no row that died since then can be cleaned away, and "
        "tables grow until it ends."
    )
    return Told(tone="caution", text=text % facts)


def _oldest(system: System) -> datetime | None:
    begun = [one.since for one in system.transactions]
    if system.prepared.since is not None:
        begun.append(system.prepared.since)
    return min(begun, default=None)
