"""What a seeded bug is, and what a scene is that shows it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proof.checkers.all import CHECKERS, Check
from proof.profiles import Profile

if TYPE_CHECKING:
    from proof.mutants.floor import Floor

MOST_LINES = 10
NO_EVIDENCE = "logs"  # a traceback does not count as found


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One rule of the product, broken at one seam.

    apply changes the product in the memory of the process that calls it; only the processes of a
    scene do. schema: what else has to go from the scene's own database.
    """

    name: str
    rule: str
    seam: str
    scene: str
    expected: tuple[str, ...]
    apply: Callable[[], None]
    schema: str = ""

    def lines(self) -> int:
        """How many lines it changes: those of apply and of schema."""
        body = inspect.getsource(self.apply).splitlines()[1:]
        code = [line for line in body if line.strip() and not line.strip().startswith(('"""', "#"))]
        return len(code) + len(self.schema.splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A small world that takes some seconds: what is sent, what strikes, and who judges."""

    name: str
    profile: Profile
    play: Callable[[Floor], None]
    checks: Mapping[str, Check]
    has_queue: bool = False


def without(*names: str) -> dict[str, Check]:
    """The checkers of the proof but those."""
    return {name: check for name, check in CHECKERS.items() if name not in names}


class SeamError(Exception):
    """The product has changed where a bug was to be put in: the mutant must be written anew."""


def swap(statements: dict[str, str], name: str, old: str, new: str) -> None:
    """Replace a part of a loaded statement. Raises SeamError when it is not there."""
    if old not in statements[name]:
        raise SeamError(f"The statement {name!r} has no {old!r} any more.")
    statements[name] = statements[name].replace(old, new)


def put(place: Any, name: str, value: object) -> None:
    """Put something else in the place of a name. Raises SeamError when there is none."""
    if not hasattr(place, name):
        raise SeamError(f"{place!r} has no {name!r} any more.")
    setattr(place, name, value)
