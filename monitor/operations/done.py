"""What a verb really did, to be told to the person who used it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The verb, a sentence for the person, how many objects were changed, and what to look at."""

    verb: str
    text: str
    count: int
    target: tuple[str, int] | None = None  # an object (kind, id) that shows how it goes on
