"""What came of a run: the figures, what each checker found, and whether the promises hold."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.checkers import liveness
from proof.checkers.all import check
from proof.checkers.facts import Facts, Violation
from proof.mutants.outcome import FILE
from proof.workload.plan import EXTERNAL, QUEUE

FAULTS = ("lost", "doubles", "order_violations", "stale_commits", "external_doubles")
STRUCK = (
    *("worker_kills", "postgres_kills", "broker_kills", "commits_cut"),
    *("child_kills", "parent_kills", "commits_unknown_committed"),
    *("pauses", "clock_steps", "disk_full"),
)
_INNOCENT_SHARE = 0.005  # of the kills
_SHOWN = 20
_NO_PROMISE = (
    "liveness",
    "logs",
)  # times, and tracebacks: told, and judged on a machine of our own


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run, counted."""

    figures: dict[str, Any]
    found: dict[str, list[Violation]]
    missed: list[str]
    missing: list[str]
    history: dict[str, list[str]]
    late: list[str]  # times missed, tracebacks, and healthy messages that too many kills hit

    @property
    def is_safe(self) -> bool:
        """Whether nothing was broken and every count of the profile was reached, times apart."""
        return not self.missed and not any(self.found.values())

    @property
    def holds(self) -> bool:
        """Whether nothing was broken and every target of the profile was reached, times too."""
        return self.is_safe and not self.late

    def line(self) -> str:
        """The figures as one line of JSON."""
        return json.dumps({**self.figures, "holds": self.holds})

    def rate(self) -> str:
        """What no failure in so many messages says of their rate (the rule of three)."""
        number = self.figures["messages"]
        return f"in {number:,} messages: the rate is below {3 / number:.2g} at 95 % (3/n)."

    def text(self) -> str:
        """The same for people."""
        return "\n".join(_text(self))


def report(folder: Path) -> Report:
    """Count a run from what its folder holds."""
    return count(Facts(folder))


def count(facts: Facts) -> Report:
    """The same from facts."""
    found = check(facts)
    figures = _figures(facts, found)
    late = [each.text for name in _NO_PROMISE for each in found.pop(name)]
    violations = [each for several in found.values() for each in several]
    return Report(
        figures=figures,
        found=found,
        missed=list(_missed(facts, figures)),
        late=[*late, *_innocents(figures)],
        missing=facts.run["missing"],
        history=_histories(facts, violations[:_SHOWN]),
    )


def _figures(facts: Facts, found: dict[str, list[Violation]]) -> dict[str, Any]:
    kinds = Counter(each.kind for several in found.values() for each in several)
    messages = list(facts.messages.values())
    mutants = _mutants(facts)
    answers = facts.answers
    return {
        "profile": facts.profile.name,
        "messages": len(messages),
        "deliveries": answers.deliveries,
        "duplicates": sum(each.duplicates for each in messages),
        "mismatches": sum(each.mismatches > 0 for each in messages),
        "external": sum(each.type in EXTERNAL for each in messages),
        "queue": sum(each.consumer.startswith(f"{QUEUE}.") for each in messages),
        **{name: facts.run["struck"].get(name) for name in STRUCK},
        **{name: kinds[name] for name in FAULTS},
        "in_doubt_unresolved": kinds["in_doubt_unresolved"],
        "in_doubt_settled": facts.run["settled"],
        "innocents": facts.run["innocents"],
        "violations": sum(len(several) for several in found.values()),
        **liveness.measure(facts),
        "mutants_caught": mutants.get("mutants_caught"),
        "mutants": mutants.get("mutants"),
        "seed": facts.run["seed"],
        "commit": facts.run["commit"],
        "seconds": facts.run["seconds"],
    }


def _missed(facts: Facts, figures: dict[str, Any]) -> Iterator[str]:
    for name, least in facts.profile.targets.items():
        value = figures.get(name)
        if value is not None and value < least:
            yield f"{name} is {value}, the profile wants {least}"
    yield from (f"seeded bug not found: {name}" for name in _mutants(facts).get("escaped", ()))
    if os.environ.get("COMBOIO_TEST_REQUIRE_ALL"):
        yield from facts.run["missing"]


def _innocents(figures: dict[str, Any]) -> Iterator[str]:
    most = max(1, int((figures["worker_kills"] or 0) * _INNOCENT_SHARE))
    if figures["innocents"] > most:
        yield f"{figures['innocents']} healthy messages died of the kills; at most {most} may"


def _mutants(facts: Facts) -> dict[str, Any]:
    """What came of the mutants that were played beside the run; {} when none were."""
    file = facts.folder / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _histories(facts: Facts, violations: list[Violation]) -> dict[str, list[str]]:
    """The history lines of each message at fault."""
    numbers = {each.key: each.message_id for each in violations if each.key}
    found = {}
    for key, message_id in numbers.items():
        stored = facts.messages.get(key)
        lines = facts.by_message.get(message_id or (stored.id if stored else 0), [])
        found[key] = [json.dumps(line) for line in lines]
    return found


def _text(report: Report) -> Iterator[str]:
    figures = report.figures
    for name, value in figures.items():
        yield f"{name:<36} {'not possible here' if value is None else value}"
    for words in report.missing:
        yield f"not done here: {words}"
    if not any(figures[name] for name in FAULTS) and figures["messages"]:
        yield f"0 lost, doubled or out of order: {report.rate()}"
    for name, several in report.found.items():
        if several:
            yield f"{name}: {len(several)} violations"
            yield from _shown(several, report.history)
    yield from (f"missed: {each}" for each in report.missed)
    yield from (f"late: {each}" for each in report.late)
    if report.holds:
        yield "The promises hold."
    else:
        yield "Nothing is broken, but late." if report.is_safe else "The promises do NOT hold."


def _shown(several: list[Violation], history: dict[str, list[str]]) -> Iterator[str]:
    for each in several[:_SHOWN]:
        yield f"  {each.key} {each.message_id or ''} {each.text}"
        yield from (f"      {line}" for line in history.get(each.key, [])[-_SHOWN:])
