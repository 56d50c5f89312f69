"""The cost of a claim does not grow with the backlog: plans say so, also on new tables."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import psycopg
import pytest
from django.db import connection

from monitor.store import connections, planning, queue
from tests.rows import forget_statistics, run

pytestmark = pytest.mark.django_db

SMALLEST = -(2**63)

_consumers = count(1)


def _buffers(statement: str, values: dict[str, Any]) -> tuple[int, str]:
    """Buffers touched by a statement, and its plan as text."""
    with connection.cursor() as own:
        own.execute("SELECT 1")
    cursor = psycopg.Cursor(connection.connection)
    planning.by_index(cursor)
    # The first run marks the index entries of rows that other tests rolled back as dead.
    cursor.execute(statement, values)
    cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement, values)
    row = cursor.fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], json.dumps(plan)


def _scans(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind, table) of every scan in a plan."""
    own = [(plan["Node Type"], plan.get("Relation Name", ""))]
    return own + [scan for below in plan.get("Plans", ()) for scan in _scans(below)]


def _fill(messages: int, sessions: int) -> int:
    """A backlog in 256 lanes that no other test has used (its dead rows would count); the first."""
    first = 256 * next(_consumers)
    run("INSERT INTO comboio_lane SELECT generate_series(%(n)s, %(n)s + 255)", n=first)
    run(
        "INSERT INTO comboio_ready SELECT %(first)s + (hashint8(s) & 255), s, n FROM"
        " (SELECT n, 1000 + n %% %(sessions)s AS s FROM generate_series(1, %(messages)s) n) rows",
        first=first,
        messages=messages,
        sessions=sessions,
    )
    return first


@pytest.mark.parametrize(("messages", "sessions"), [(0, 1), (20_000, 1), (20_000, 5_000)])
@pytest.mark.parametrize("analysed", [False, True])
def test_a_claim_probes_the_index_of_each_lane(
    messages: int, sessions: int, analysed: bool
) -> None:
    first = _fill(messages, sessions)
    if analysed:
        run("ANALYZE comboio_ready, comboio_lane")
    else:
        forget_statistics()
    values = {"first": first, "end": first + 256, "count": 16}
    buffers, plan = _buffers(queue.SQL["claim"], values)
    assert '"Relation Name": "comboio_ready"' in plan
    assert ("Seq Scan", "comboio_ready") not in _scans(json.loads(plan))
    assert buffers < 1_200


def test_reading_costs_the_same_beside_a_large_backlog() -> None:
    first = _fill(200_000, 20_000)
    run("ANALYZE comboio_ready, comboio_lane")
    lanes = list(range(first, first + 16))
    values = {"lanes": lanes, "after": [SMALLEST] * 16, "cap": 25}
    buffers, plan = _buffers(queue.SQL["read"], values)
    assert ("Seq Scan", "comboio_ready") not in _scans(json.loads(plan))
    assert buffers < 16 * 25 * 4


@pytest.mark.parametrize(
    ("name", "values", "table"),
    [
        ("claim", {"first": 256, "end": 512, "count": 16}, "comboio_ready"),
        ("bodies", {"ids": "ARRAY[1, 2]", "slot": 1}, "comboio_message_default"),
    ],
)
def test_a_plan_that_is_kept_from_an_empty_table_goes_by_index(
    name: str, values: dict[str, Any], table: str
) -> None:
    run("TRUNCATE comboio_ready, comboio_message")
    run("ANALYZE comboio_ready, comboio_message")  # as autovacuum finds a drained queue
    run("SET LOCAL plan_cache_mode = force_generic_plan")
    assert ("Seq Scan", table) in _kept_plan(name, values)  # what the server would choose
    planning.by_index(connections.shared_cursor())
    assert ("Seq Scan", table) not in _kept_plan(name, values)


def _kept_plan(name: str, values: dict[str, Any]) -> list[tuple[str, str]]:
    """The scans of the generic plan that a prepared statement would keep."""
    statement = queue.SQL[name].rstrip(";")
    for place, parameter in enumerate(values, start=1):
        for style in ("s", "b"):
            statement = statement.replace(f"%({parameter}){style}", f"${place}")
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
        cursor.execute(f"PREPARE kept AS {statement}")
        arguments = ", ".join(str(value) for value in values.values())
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE kept ({arguments})")
        plan = cursor.fetchone()[0]
    return _scans(json.loads(plan)[0]["Plan"] if isinstance(plan, str) else plan[0]["Plan"])
