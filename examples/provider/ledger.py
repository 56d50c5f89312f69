"""What the provider did: one line of a file for each act, never changed, counted by key."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One charge that really happened."""

    kind: str
    key: str
    number: int
    request: dict[str, Any]

    @property
    def answer(self) -> dict[str, Any]:
        """What the provider says about it, today and on every later day."""
        amount = self.request["amount_cents"]
        return {"id": f"ch_{self.number}", "status": "charged", "amount_cents": amount}


class Ledger:
    """The acts so far; those of an earlier life of the process are read from the file."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self._acts: dict[tuple[str, str], Act] = {}
        self._times: Counter[str] = Counter()
        for act in read(path):
            self._remember(act)

    def act(self, kind: str, key: str, request: dict[str, Any]) -> Act:
        """Charge: a line more, whether or not there was one with this key."""
        with self._lock:
            act = Act(kind=kind, key=key, number=self._times.total() + 1, request=request)
            os.write(self._file, json.dumps(asdict(act)).encode() + b"\n")
            self._remember(act)
            return act

    def find(self, kind: str, key: str) -> Act | None:
        """The first act with this key, or None."""
        with self._lock:
            return self._acts.get((kind, key))

    def times(self) -> dict[str, int]:
        """How often each key was charged."""
        with self._lock:
            return dict(self._times)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _remember(self, act: Act) -> None:
        self._acts.setdefault((act.kind, act.key), act)
        self._times[act.key] += 1


def read(path: Path) -> list[Act]:
    """Every act in the file, in the order in which they happened; none when there is no file."""
    if not path.exists():
        return []
    return [Act(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def times_by_key(acts: list[Act]) -> Counter[str]:
    """How often each key was charged. More than once is what nobody wants."""
    return Counter(act.key for act in acts)
