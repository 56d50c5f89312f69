"""What a verb really did, to be told to the person who used it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The verb, a sentence for the person, and how many objects were changed."""

    verb: str
    text: str
    count: int
