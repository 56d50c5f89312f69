"""How much of the bare loop's speed the engine keeps. Run it with: .venv/bin/python -m bench.drain

In each round 20,000 messages of 500 bytes in 5,000 sessions are stored for each of two ways to run
them: the engine (order, retries, markers, counters, evidence of crashes and all), and a bare loop
of the same statements in batches of 200. Both use one process and plain cursors, on an embedded
PostgreSQL with fsync on, and take turns each 1,000 messages: so the mood of the machine meets both
alike. Believe the ratio, not the rates.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import psycopg
from django.db import connection

from bench.server import durable_database
from monitor import Message, consumer
from monitor.domain.message import Delivery
from monitor.engine import directory, ingest, registry
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store.sql import load

SQL = load(__file__)
BATCH = 200
SLICE = 1_000  # messages of one way before it is the other's turn
TARGET = 0.4
Item = TypeVar("Item")

runs: Counter[str] = Counter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The body of a measured message; the note fills it up to 500 bytes."""

    account: int
    amount: int
    note: str


@consumer("bench.engine", source="bench.engine")
def credit(transfer: Transfer, message: Message) -> None:
    """The measured handler: two statements through a plain cursor on the engine's transaction."""
    runs["engine"] += 1
    assert connection.connection is not None  # noqa: S101 - the engine has opened it
    _two_statements(
        psycopg.Cursor(connection.connection), transfer.account, transfer.amount, message.id
    )


def never(_transfer: Transfer) -> None:
    """Stands for the bare loop, whose messages no engine may run."""
    raise AssertionError


def main(arguments: Sequence[str]) -> int:
    """Measure and print; 0 when the median ratio reaches the target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--sessions", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    with durable_database() as durability:
        _say(f"{durability}; {options.messages:,} messages in {options.sessions:,} sessions")
        prepare(options.sessions)
        ratios = [_round(n, options) for n in range(1, options.rounds + 1)]
    median = statistics.median(ratios)
    _say(f"median ratio engine / bare loop: {median:.2f} (at least {TARGET} is wanted)")
    return 0 if median >= TARGET else 1


def _round(number: int, options: argparse.Namespace) -> float:
    """One round: both ways in slices, by turns; the ratio of their rates."""
    consumer("bench.bare", source="bench.bare")(never)
    for name in ("engine", "bare"):
        _store(f"bench.{name}", options.messages, options.sessions)
    registry.remove("bench.bare")  # known to the inbox only: the engine leaves its messages alone
    _settle()
    ways: dict[str, Way] = {"engine": _Engine(), "bare": _BareLoop()}
    spent = dict.fromkeys(ways, 0.0)
    for goal in range(SLICE, options.messages + SLICE, SLICE):
        for name, way in ways.items():
            started = time.perf_counter()
            way.run_until(min(goal, options.messages))
            spent[name] += time.perf_counter() - started
    for way in ways.values():
        way.end()
    _check(2 * options.messages)
    rates = {name: options.messages / seconds for name, seconds in spent.items()}
    ratio: float = rates["engine"] / rates["bare"]
    _say(
        f"round {number}: engine {rates['engine']:,.0f}/s, bare loop {rates['bare']:,.0f}/s, "
        f"ratio {ratio:.2f}"
    )
    return ratio


class Way(Protocol):
    """One way to run the stored messages."""

    def run_until(self, goal: int) -> None:
        """Run messages until so many are done in all."""

    def end(self) -> None:
        """Close what was opened."""


class _Engine:
    def __init__(self) -> None:
        self._life = Life("bench")
        self._before = runs.total()

    def run_until(self, goal: int) -> None:
        # Looked at between batches, so a slice is up to one batch longer than asked.
        drain(self._life, seconds=3_600, should_stop=lambda: self._done() >= goal)
        if self._done() < goal:
            raise SystemExit(f"The engine stopped at {self._done()}; {goal} were expected.")

    def end(self) -> None:
        self._life.end()

    def _done(self) -> int:
        return runs.total() - self._before


class _BareLoop:
    def __init__(self) -> None:
        self._connection = psycopg.connect(os.environ["DATABASE_URL"])
        self._cursor = self._connection.cursor()
        self._consumer = directory.ids(self._cursor)["bench.bare"]
        self._cursor.execute(SQL["waiting"], {"consumer": self._consumer})
        self._waiting = self._cursor.fetchall()
        self._done = 0

    def run_until(self, goal: int) -> None:
        while self._done < goal:
            batch = self._waiting[self._done : self._done + BATCH]
            self._run(*([*column] for column in zip(*batch, strict=True)))
            self._done += len(batch)

    def _run(self, lanes: list[int], sessions: list[int], ids: list[int]) -> None:
        cursor = self._cursor
        for message_id, payload in cursor.execute(SQL["bodies"], {"ids": ids}).fetchall():
            body = json.loads(payload)
            _two_statements(cursor, body["account"], body["amount"], message_id)
        cursor.execute(SQL["leave"], {"lanes": lanes, "sessions": sessions, "ids": ids})
        cursor.execute(SQL["done"], {"consumer": self._consumer, "ids": ids})
        self._connection.commit()

    def end(self) -> None:
        self._connection.close()


def _two_statements(
    cursor: psycopg.Cursor[Any], account: int, amount: int, message_id: int
) -> None:
    cursor.execute(SQL["credit"], {"account": account, "amount": amount})
    cursor.execute(SQL["book"], {"account": account, "amount": amount, "message": message_id})


def prepare(sessions: int) -> None:
    """Make the accounts that the measured handler writes to."""
    with connection.cursor() as cursor:
        cursor.execute(SQL["tables"])
        cursor.execute(SQL["accounts"], {"sessions": sessions})


def _store(source: str, messages: int, sessions: int) -> None:
    """Fill the inbox of one consumer."""
    stamp = time.time_ns()
    for numbers in _batches(range(messages)):
        ingest.receive([delivery(source, f"{stamp}-{n}", n % sessions + 1) for n in numbers])


def _settle() -> None:
    """Do now what the storing would leave to the time of the measurement."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE bench_ledger")
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def delivery(source: str, key: str, account: int) -> Delivery:
    """A message of 500 bytes for an account."""
    body = {"account": account, "amount": account % 97 + 1, "note": ""}
    body["note"] = "x" * (500 - len(json.dumps(body)))
    return Delivery(
        source=source,
        origin=source,
        key=key,
        session=str(account),
        payload=json.dumps(body).encode(),
    )


def _check(messages: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(SQL["booked"])
        booked = cursor.fetchone()
    if booked != (messages, messages):
        raise SystemExit(f"{booked} effects of {messages} messages: this measurement is void.")


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
