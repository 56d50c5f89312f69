"""What the checkers look at: files that a run left, never a live database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import psycopg

from monitor.store.sql import load
from proof import history
from proof.profiles import PROFILES, Profile
from proof.workload.plan import Plan

SQL = load(__file__)

# Faults that kill a worker, as the nemesis writes them, each with what its victim held.
KILLS = ("worker_kills", "child_kills", "killed with its parent")


class Stored(NamedTuple):
    """A message as the database told it at the end."""

    id: int
    consumer: str
    key: str
    session: str
    type: str
    places: int
    state: str | None
    attempts: int
    reason: str
    duplicates: int
    mismatches: int


class Booked(NamedTuple):
    """A row of the ledger."""

    id: int
    key: str
    message_id: int
    account: int
    cents: int
    pid: int


class Appended(NamedTuple):
    """A row of a session's list."""

    id: int
    consumer: str
    session: str
    n: int
    place: int
    behind: int | None
    key: str
    message_id: int
    pid: int


class Charged(NamedTuple):
    """A row of an external handler."""

    id: int
    key: str
    message_id: int
    consumer: str
    session: str
    fence: int
    pid: int


class Recorded(NamedTuple):
    """A recorded call to the outside."""

    id: int
    message_id: int
    name: str
    key: str
    kind: str
    state: str
    calls: int
    decided_by: str
    conflict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A promise that was broken. kind is the figure of the report that it counts in."""

    kind: str
    text: str
    key: str = ""
    message_id: int = 0


def export(database_url: str, folder: Path) -> None:
    """Write what the statements find, a file for each, into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with psycopg.connect(database_url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for name, statement in SQL.items():
            with connection.cursor(name) as cursor, (folder / f"{name}.jsonl").open("wb") as file:
                cursor.itersize = 20_000
                cursor.execute(statement)
                for row in cursor:
                    file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


class Facts:
    """A folder of a run: facts/, history/, provider.ledger and run.json."""

    def __init__(self, folder: Path, profile: Profile | None = None) -> None:
        """profile: of a test; by default the one that the run names."""
        self.folder = folder
        self.run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self.profile = profile or PROFILES[self.run["profile"]]
        self.plan = Plan(
            seed=self.run["seed"], profile=self.profile, has_queue=self.run["has_queue"]
        )

    def rows(self, name: str) -> Iterator[list[Any]]:
        """The rows of an exported statement."""
        with (self.folder / "facts" / f"{name}.jsonl").open("rb") as file:
            for line in file:
                yield orjson.loads(line)

    @cached_property
    def messages(self) -> dict[str, Stored]:
        """Messages by key. Two of one key are told by the conservation checker."""
        return {each.key: each for each in self.all_messages()}

    def all_messages(self) -> Iterator[Stored]:
        """Every message."""
        return (Stored(*row) for row in self.rows("messages"))

    @cached_property
    def booked(self) -> list[Booked]:
        """The ledger."""
        return [Booked(*row) for row in self.rows("ledger")]

    @cached_property
    def appended(self) -> list[Appended]:
        """The lists of the sessions."""
        return [Appended(*row) for row in self.rows("appended")]

    @cached_property
    def charged(self) -> list[Charged]:
        """What external handlers committed."""
        return [Charged(*row) for row in self.rows("charges")]

    @cached_property
    def recorded(self) -> list[Recorded]:
        """Recorded calls."""
        return [Recorded(*row) for row in self.rows("effects")]

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The whole history in time, without what the senders said."""
        return [line for line in history.in_time(self.folder / "history") if "sender" not in line]

    @cached_property
    def answers(self) -> Answers:
        """What the senders were told."""
        return Answers(self.folder / "history")

    @cached_property
    def requeued(self) -> set[int]:
        """Messages that an operator put back."""
        return {row[4] for row in self.rows("audit") if row[2] == "requeue" and row[3] == "message"}

    @cached_property
    def by_message(self) -> dict[int, list[dict[str, Any]]]:
        """The history by message id."""
        found: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for line in self.lines:
            if "id" in line:
                found[line["id"]].append(line)
        return found


class Answers:
    """What the senders noted, by the number of the message."""

    def __init__(self, folder: Path) -> None:
        self.new: dict[int, int] = {}  # the id that was told, 0 where only a broker confirmed
        self.same: dict[int, int] = defaultdict(int)  # deliveries that were taken
        self.changed: dict[int, int] = defaultdict(int)
        self.unanswered: dict[int, int] = defaultdict(int)  # sent, and nobody knows
        self.deliveries = 0
        for line in history.read(folder):
            if "sender" in line:
                self._add(line)

    def _add(self, line: dict[str, Any]) -> None:
        numbers = line["n"]
        # Refused is "not stored for certain": a commit whose answer was lost is among them.
        if line["event"] in ("unknown", "refused"):
            for n in numbers:
                self.unanswered[n] += 1
            return
        if line["event"] != "acked":
            return
        self.deliveries += len(numbers)
        ids = line.get("ids") or [0] * len(numbers)
        for n, word, message_id in zip(numbers, line["words"], ids, strict=True):
            if word == "m":
                self.changed[n] += 1
                continue
            self.same[n] += 1
            self.new[n] = message_id
