"""How much of the bare loop's speed the engine keeps. Run it with: .venv/bin/python -m bench.drain

In each round 20,000 messages of 500 bytes in 5,000 sessions are stored for each of two ways to run
them: the engine (order, retries, markers, counters, evidence of crashes and all), and a bare loop
of the same statements in batches of 200. Both use one process and plain cursors, on an embedded
PostgreSQL with fsync on. The machine's mood cancels out in the ratio of a round, not in the rates.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from django.db import connection

from bench.server import durable_database
from monitor import Message, consumer
from monitor.domain.message import Delivery
from monitor.engine import directory, ingest
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store.sql import load

SQL = load(__file__)
BATCH = 200
TARGET = 0.4
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """The body of a measured message; the note fills it up to 500 bytes."""

    account: int
    amount: int
    note: str


@consumer("bench.engine", source="bench.engine")
def credit(transfer: Transfer, message: Message) -> None:
    """The measured handler: two statements through a plain cursor on the engine's transaction."""
    assert connection.connection is not None  # noqa: S101 - the engine has opened it
    _two_statements(
        psycopg.Cursor(connection.connection), transfer.account, transfer.amount, message.id
    )


@consumer("bench.bare", source="bench.bare")
def never(_transfer: Transfer) -> None:
    """Gives the messages of the bare loop an inbox; the engine is not started while they wait."""
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
        _prepare(options.sessions)
        ratios = [_round(n, options) for n in range(1, options.rounds + 1)]
    median = statistics.median(ratios)
    _say(f"median ratio engine / bare loop: {median:.2f} (at least {TARGET} is wanted)")
    return 0 if median >= TARGET else 1


def _round(number: int, options: argparse.Namespace) -> float:
    """One round, the two ways in turns first; the ratio of their rates."""
    ways = {"engine": _engine, "bare": _bare}
    rates: dict[str, float] = {}
    for name in sorted(ways, reverse=bool(number % 2)):
        _store(f"bench.{name}", options.messages, options.sessions)
        started = time.perf_counter()
        ways[name]()
        rates[name] = options.messages / (time.perf_counter() - started)
        _check(options.messages)
    ratio = rates["engine"] / rates["bare"]
    _say(
        f"round {number}: engine {rates['engine']:,.0f}/s, bare loop {rates['bare']:,.0f}/s, "
        f"ratio {ratio:.2f}"
    )
    return ratio


def _engine() -> None:
    life = Life("bench")
    drain(life, seconds=3_600)
    life.end()


def _bare() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as own:
        cursor = own.cursor()
        number = directory.ids(cursor)["bench.bare"]
        waiting = cursor.execute(SQL["waiting"], {"consumer": number}).fetchall()
        for batch in _batches(waiting):
            lanes, sessions, ids = (list(column) for column in zip(*batch, strict=True))
            for message_id, payload in cursor.execute(SQL["bodies"], {"ids": ids}).fetchall():
                body = json.loads(payload)
                _two_statements(cursor, body["account"], body["amount"], message_id)
            cursor.execute(SQL["leave"], {"lanes": lanes, "sessions": sessions, "ids": ids})
            cursor.execute(SQL["done"], {"consumer": number, "ids": ids})
            own.commit()


def _two_statements(
    cursor: psycopg.Cursor[Any], account: int, amount: int, message_id: int
) -> None:
    cursor.execute(SQL["credit"], {"account": account, "amount": amount})
    cursor.execute(SQL["book"], {"account": account, "amount": amount, "message": message_id})


def _prepare(sessions: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(SQL["tables"])
        cursor.execute(SQL["accounts"], {"sessions": sessions})


def _store(source: str, messages: int, sessions: int) -> None:
    """Fill the inbox of one consumer, and leave no work of this behind for the measurement."""
    stamp = time.time_ns()
    for numbers in _batches(range(messages)):
        ingest.receive([_delivery(source, f"{stamp}-{n}", n % sessions + 1) for n in numbers])
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE bench_ledger")
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def _delivery(source: str, key: str, account: int) -> Delivery:
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
