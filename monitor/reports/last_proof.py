"""What the last recorded proof said, as its page keeps it; without one nothing is claimed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

# As "./manage.py prove --record" writes it (proof/verification.txt); a test holds both together.
_LINE = re.compile(
    r"^\*\*(?P<verdict>.+)\*\* Profile `(?P<profile>\w+)`, seed (?P<seed>\d+), "
    r"commit `(?P<commit>[^`]+)`, (?P<day>\d{4}-\d{2}-\d{2})\.$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A run of prove that was recorded: its own words, and of which code and day it speaks."""

    verdict: str
    profile: str
    seed: int
    commit: str
    day: date


def read(page: Path) -> Proof | None:
    """The proof that this page records; None where there is no page, or it records none."""
    try:
        found = _LINE.search(page.read_text(encoding="utf-8"))
        if found is None:
            return None
        return Proof(
            verdict=found["verdict"],
            profile=found["profile"],
            seed=int(found["seed"]),
            commit=found["commit"],
            day=date.fromisoformat(found["day"]),
        )
    except (OSError, ValueError):
        return None
