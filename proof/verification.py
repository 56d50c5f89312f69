"""Writes docs/verification.md: what the last recorded run did and what it found."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from config.launch.bootstrap import ROOT
from proof import history
from proof.mutants.outcome import Outcome
from proof.report import FAULTS, Report

PAGE = ROOT / "docs" / "verification.md"
NAMES = {
    "messages": "messages accepted",
    "deliveries": "deliveries answered to their senders",
    "duplicates": "of them duplicates, counted by the product",
    "mismatches": "messages whose key came again with another payload",
    "external": "messages with a handler outside the transaction",
    "queue": "messages over RabbitMQ",
    "worker_kills": "workers killed (SIGKILL) at work",
    "child_kills": "children of Celery workers killed",
    "parent_kills": "Celery workers killed, with their receivers",
    "postgres_kills": "PostgreSQL killed, all processes",
    "broker_kills": "RabbitMQ killed",
    "commits_cut": "connections cut at a COMMIT",
    "commits_unknown_committed": "of them committed all the same",
    "pauses": "workers frozen for longer than a lease",
    "clock_steps": "steps of the database's clock",
    "disk_full": "database's disk full",
    "lost": "messages or effects lost",
    "doubles": "effects doubled",
    "order_violations": "violations of the order in a session",
    "stale_commits": "commits by a holder that had lost its lease",
    "external_doubles": "calls to the outside doubled or repeated in silence",
    "in_doubt_unresolved": "effects left in doubt",
    "in_doubt_settled": "effects in doubt settled by a person with the provider's books",
    "innocents": "healthy messages given up after kill upon kill, requeued by a person",
    "takeover_p99_seconds": "takeover of a dead worker's batch, 99 of 100 within (s)",
    "takeover_leased_p99_seconds": "takeover of what it held by a lease, 99 of 100 within (s)",
    "first_commit_after_restart_seconds": "first commit after PostgreSQL is back, at most (s)",
    "drain_seconds": "everything done after the faults end (s)",
    "mutants_caught": "seeded bugs found",
    "mutants": "seeded bugs",
}
_PAGE = Path(__file__).with_suffix(".txt")
_ABOUT = Path(__file__).parent / "mutants" / "section.txt"
_MUTANTS = "## Seeded bugs"
_NOTHING = "not possible here"
_CHECKERS = {
    "conservation": "what was accepted and is not there, not in exactly one state, or ended wrong",
    "ledger": "effects missing, doubled or changed; balances that differ from the plan",
    "session_order": "effects out of the order of acceptance; reads that were no prefix",
    "fences": "commits of a holder that had lost its lease",
    "external": "acts doubled at the provider, calls repeated in silence, doubts without cause",
    "attempts": "attempts charged for kills or for a database that was away",
    "duplicates": "duplicates and mismatches that were not counted, or counted and not sent",
    "operator": "acts of a person without exactly one row of audit",
    "figures": "counters that differ from the rows",
    "liveness": "takeover, first commit and drain that took too long",
    "logs": "tracebacks that the faults do not explain",
}


def write(report: Report, folder: Path, *, page: Path = PAGE) -> None:
    """Write the page for a run whose folder still holds its history."""
    section = _section(page)
    words = text(report, history.digest(folder / "history"))
    page.write_text(f"{words}\n{section}" if section else words, encoding="utf-8")


def write_mutants(outcome: Outcome, *, page: Path = PAGE) -> None:
    """Put the section of the seeded bugs in its place, the last one; the rest stays."""
    before = page.read_text(encoding="utf-8") if page.exists() else "# Verification\n"
    before = before.removesuffix(_section(page)).rstrip()
    page.write_text(f"{before}\n\n{mutants_text(outcome)}", encoding="utf-8")


def mutants_text(outcome: Outcome) -> str:
    """The section: who found which bug."""
    about = _ABOUT.read_text(encoding="utf-8")
    return f"{_MUTANTS}\n\n{about}\n{outcome.text()}\n\n{outcome.table()}\n"


def _section(page: Path) -> str:
    """The section of the seeded bugs as it stands, "" without one."""
    found = page.read_text(encoding="utf-8") if page.exists() else ""
    at = found.find(_MUTANTS)
    return "" if at < 0 else found[at:]


def text(report: Report, digest: str) -> str:
    """The page."""
    figures = report.figures
    rows = [f"| {words} | {_value(figures.get(name))} |" for name, words in NAMES.items()]
    missing = "".join(f"\nNot done on this machine: {words}\n" for words in report.missing)
    return _PAGE.read_text(encoding="utf-8").format(
        verdict=_verdict(report),
        **{name: figures[name] for name in ("profile", "seed", "commit", "seconds")},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        cores=os.cpu_count(),
        machine=platform.machine(),
        memory=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        python=platform.python_version(),
        digest=digest,
        table="\n".join(rows),
        claim=_claim(report),
        missing=missing,
        checkers="\n".join(f"| {name} | {words} |" for name, words in _CHECKERS.items()),
    )


def _verdict(report: Report) -> str:
    if report.holds:
        return "Every promise held."
    if report.is_safe:
        return f"Nothing was lost, doubled or out of order, but late: {'; '.join(report.late)}."
    return "NOT every promise held."


def _claim(report: Report) -> str:
    found = {name: report.figures[name] for name in FAULTS if report.figures[name]}
    if found or not report.figures["messages"]:
        return f"Broken: {', '.join(f'{name} {number}' for name, number in found.items())}."
    return f"0 failures: {report.rate()}"


def _value(value: object) -> str:
    if value is None:
        return _NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
