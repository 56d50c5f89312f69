"""A run in which nothing went wrong, as files: each test of a checker breaks one thing in it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from proof.checkers.facts import Facts
from proof.profiles import PROFILES
from proof.workload.plan import APPENDING, EXTERNAL, Copy, Item, Plan

PROFILE = replace(PROFILES["smoke"], messages=500, drain_seconds=30.0, takeover_seconds=4.0)
PLAN = Plan(seed=7, profile=PROFILE, has_queue=False)
ITEMS = list(PLAN.items())
WORKER = 100


class Run:
    """The rows and lines of a run by name; write() makes the folder that the checkers read."""

    def __init__(self) -> None:
        self.facts: dict[str, list[list[Any]]] = defaultdict(list)
        self.lines: list[dict[str, Any]] = []
        self.acts: list[dict[str, Any]] = []
        self.logs: dict[str, str] = {"worker": "all is well\n"}
        self.run = {
            **{"profile": "smoke", "seed": 7, "has_queue": False, "drain_seconds": 1.0},
            **{"struck": {"worker_kills": 9}, "missing": [], "settled": 0, "innocents": 0},
            **{"commit": "0123456789ab", "seconds": 30.0},
        }
        for item in ITEMS:
            self._add(item)
        self.facts["left_over"] = [[0, 0, 0, 0]]
        self.count()

    def say(self, event: str, **more: Any) -> None:
        """One more line of the history, a millisecond after the last one."""
        line = {"mono_ns": (len(self.lines) + 1) * 1_000_000, "pid": WORKER, "event": event}
        self.lines.append({**line, **more})

    def write(self, folder: Path) -> Facts:
        """The facts of the folder, once all is written there."""
        for name in ("facts", "history", "logs"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in ("messages", "ledger", "appended", "charges", "effects", "audit", "totals"):
            _write(folder / "facts" / f"{name}.jsonl", self.facts[name])
        for name in ("mismatches", "left_over"):
            _write(folder / "facts" / f"{name}.jsonl", self.facts[name])
        _write(folder / "history" / "1.jsonl", self.lines)
        _write(folder / "provider.ledger", self.acts)
        for name, text in self.logs.items():
            (folder / "logs" / f"{name}.log").write_text(text)
        (folder / "run.json").write_text(json.dumps(self.run))
        return Facts(folder, PROFILE)

    def row(self, name: str, key: str) -> list[Any]:
        """The first row of this key."""
        return next(row for row in self.facts[name] if key in row)

    def _add(self, item: Item) -> None:
        number = item.n + 1
        is_dead = item.kind == "poison"
        attempts = 3 if is_dead else int(item.body.get("fails", 0)) + 1
        duplicates = sum(copy is not Copy.CHANGED for copy in item.copies)
        changed = sum(copy is Copy.CHANGED for copy in item.copies)
        self.facts["messages"].append(
            [
                *(number, item.consumer, item.key, item.session, item.kind, 1),
                *("dead" if is_dead else "done", attempts, "poison" if is_dead else ""),
                *(duplicates, changed),
            ]
        )
        if changed:
            self.facts["mismatches"].append([number, changed, ""])
        words = "n" + "d" * duplicates + "m" * changed
        told = {"n": [item.n] * len(words), "ids": [number] * len(words), "words": words}
        self.say("acked", sender=0, **told)
        for attempt in range(attempts):
            self.say("start", key=item.key, id=number, attempt=attempt + 1, **self._fence(item))
        self._effects(item, number)

    def _effects(self, item: Item, number: int) -> None:
        if item.kind == "transfer":
            for account, cents in (
                (item.body["from"], -item.body["cents"]),
                (item.body["to"], item.body["cents"]),
            ):
                self.facts["ledger"].append([0, item.key, number, account, cents, WORKER])
        elif item.kind in APPENDING:
            rows = [r for r in self.facts["appended"] if r[1:3] == [item.consumer, item.session]]
            place, behind = (rows[-1][4] + 1, rows[-1][3]) if rows else (1, None)
            where = [item.consumer, item.session, item.n, place, behind]
            self.facts["appended"].append([0, *where, item.key, number, WORKER])
        elif item.kind in EXTERNAL:
            fence = self._fence(item)["fence"]
            where = [item.consumer, item.session, fence, WORKER]
            self.facts["charges"].append([0, item.key, number, *where])
            if item.kind != "long":
                self._call(item, number)

    def _call(self, item: Item, number: int) -> None:
        key = effect_key(item)
        self.say("call", effect=key, kind=item.kind, id=number, request="r")
        self.say("answered", effect=key, kind=item.kind, id=number)
        self.say("finished", key=item.key, id=number)
        settled = ["completed", 1, "call", ""]
        self.facts["effects"].append([number, number, "charge", key, item.kind, *settled])
        self.acts.append(
            {"kind": item.kind, "key": key, "number": number, "request": {"amount_cents": 1}}
        )

    @staticmethod
    def _fence(item: Item) -> dict[str, int]:
        return {"fence": item.n + 1} if item.kind in EXTERNAL else {}

    def count(self) -> None:
        """The totals agree with the messages."""
        totals: dict[tuple[str, str, str], int] = defaultdict(int)
        for row in self.facts["messages"]:
            totals[row[1], "received", "new"] += 1
            totals[row[1], "received", "duplicate"] += row[9]
            totals[row[1], "received", "mismatch"] += row[10]
            totals[row[1], "processed", row[6]] += 1
        self.facts["totals"] = [[*key, float(value)] for key, value in totals.items()]


def effect_key(item: Item) -> str:
    """The idempotency key of an item's call."""
    return f"effect-{item.n}"


def of_kind(kind: str) -> Iterator[Item]:
    """The items of a kind."""
    return (item for item in ITEMS if item.kind == kind)


def _write(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
