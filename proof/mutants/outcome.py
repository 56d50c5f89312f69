"""What came of all seeded bugs: which were found, by whom, and whether the scenes were clean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

FILE = "mutants.json"  # in the folder of a run: the line of the mutants played beside it
Result = dict[str, Any]  # a line of python -m proof.mutants


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of a run of the mutants."""

    results: Sequence[Result]
    seed: int
    seconds: float

    @property
    def mutated(self) -> list[Result]:
        """A result for each mutant."""
        return [each for each in self.results if each["mutant"]]

    @property
    def caught(self) -> list[Result]:
        """Those that a checker meant for them found, in a scene that is clean without them."""
        clean = {each["scene"] for each in self.results if not each["mutant"] and each["is_clean"]}
        return [each for each in self.mutated if _is_found(each) and each["scene"] in clean]

    @property
    def holds(self) -> bool:
        """Whether every mutant was caught."""
        return bool(self.mutated) and len(self.caught) == len(self.mutated)

    @property
    def escaped(self) -> list[str]:
        """The names of those that were not."""
        caught = [each["mutant"] for each in self.caught]
        return [each["mutant"] for each in self.mutated if each["mutant"] not in caught]

    def line(self) -> str:
        """All of it as one line of JSON."""
        return json.dumps(
            {
                "mutants": len(self.mutated),
                "mutants_caught": len(self.caught),
                "escaped": self.escaped,
                "seed": self.seed,
                "seconds": round(self.seconds, 1),
                "holds": self.holds,
                "results": list(self.results),
            }
        )

    def text(self) -> str:
        """The same for people, without what shown() says of each."""
        clean = [each for each in self.results if not each["mutant"]]
        unclean = [each["scene"] for each in clean if not each["is_clean"]]
        words = f"{len(self.caught)} of {len(self.mutated)} seeded bugs found, seed {self.seed}, "
        words += f"{self.seconds:.0f} s."
        if unclean:
            return f"{words} Not clean without a bug: {', '.join(unclean)}."
        return f"{words} The same {len(clean)} scenes without them are clean."

    def table(self) -> str:
        """Markdown: a row for each mutant."""
        head = "| seeded bug | the rule that it breaks | where | found by |\n|---|---|---|---|"
        return "\n".join([head, *(_row(each) for each in self.mutated)])


def _is_found(result: Result) -> bool:
    """What only slows a scene down until others complain is not found."""
    return bool(set(result["caught_by"]) & set(result["expected"]))


def shown(result: Result) -> str:
    """One result as lines for people."""
    return "\n".join(_shown(result))


def _shown(result: Result) -> Iterator[str]:
    name = result["mutant"] or "without a bug"
    if result["error"]:
        verdict = "could not be played"
    elif result["mutant"]:
        verdict = f"caught by {', '.join(result['caught_by'])}" if _is_found(result) else "MISSED"
    else:
        verdict = "clean" if result["is_clean"] else "NOT clean"
    yield f"{result['scene']:<12} {name:<32} {verdict} ({result['seconds']:.1f} s)"
    if result["error"]:
        yield f"    {result['error']}"
    for checker, (number, first) in result["found"].items():
        yield f"    {checker}: {number}, the first: {first}"


def _row(result: Result) -> str:
    found = ", ".join(result["caught_by"]) if _is_found(result) else "**not found**"
    return f"| {result['mutant']} | {result['rule']} | `{result['seam']}` | {found} |"
