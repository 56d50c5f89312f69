"""Retention looks at a chunk, however large the tables are: plans say so, also on new ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from monitor.store import connections, planning, retention
from tests.rows import forget_statistics, run

pytestmark = pytest.mark.django_db

MESSAGES = 20_000
IDS = list(range(1, 2_001))
DAY = 86_400.0
PLACE = {"first": "(0,0)", "end": "(32,0)", "seconds": DAY}
# statement: (values, buffers that a chunk may touch)
CHUNKS: dict[str, tuple[Mapping[str, Any], int]] = {
    "walk_done": ({"after": 0, "limit": 2_000, "seconds": DAY}, 8_500),
    "walk_discarded": ({"after": 0, "limit": 2_000, "seconds": DAY}, 8_500),
    "kept": ({"ids": IDS, "seconds": DAY}, 21_000),
    "unsettled": ({"ids": IDS}, 6_500),
    "forget_messages": ({"ids": IDS}, 60_000),
    "forget_keys": (PLACE, 30_000),
    "forget_traces": ({"ids": IDS}, 20_000),
    "unused_sessions": (PLACE, 45_000),
    "forget_sessions": ({"ids": IDS, "seconds": DAY}, 30_000),
    "forget_progress": ({"ids": IDS}, 10_000),
    "forget_alerts": ({"limit": 2_000, "seconds": DAY}, 10_000),
    "forget_clicks": ({"limit": 2_000, "seconds": DAY}, 10_000),
    "forget_audit": ({"limit": 2_000, "seconds": DAY}, 10_000),
}


def _fill() -> None:
    """Messages that are done, each in a session of its own, all of them long ago."""
    for table, columns, values in (
        (
            "message",
            "id, consumer, lane, session, source, origin, key, type, content_type, payload,"
            " headers, received_at",
            "n, 1, 256, n, 's', 's', n::text, '', '', '', '{}', at",
        ),
        ("done", "id, consumer, at, ms, attempts", "n, 1, at, 1, 1"),
        (
            "dedup",
            "consumer, key, message_id, fingerprint, hash_version, seen_at",
            "1, md5(n::text)::uuid, n + 1000000, '', 1, at",
        ),
        ("session", "id, consumer, key, created_at", "n + 1000000, 1, n::text, at"),
    ):
        run(
            f"INSERT INTO comboio_{table} ({columns}) SELECT {values} FROM"
            " (SELECT n, now() - interval '100 days' AS at FROM generate_series(1, %(n)s) n) rows",
            n=MESSAGES,
        )


def _scans(plan: dict[str, Any]) -> set[tuple[str, str]]:
    """(kind, table) of every scan in a plan."""
    own = {(plan["Node Type"], plan.get("Relation Name", ""))}
    return own.union(*(_scans(below) for below in plan.get("Plans", ())))


@pytest.mark.parametrize("is_analysed", [False, True])
def test_a_chunk_touches_its_rows_and_reads_no_table_from_end_to_end(*, is_analysed: bool) -> None:
    _fill()
    if is_analysed:
        run("ANALYZE comboio_message, comboio_done, comboio_dedup, comboio_session")
    else:
        forget_statistics()
    cursor = connections.shared_cursor()
    planning.by_index(cursor)
    for name, (values, most) in CHUNKS.items():
        cursor.execute("SAVEPOINT before")
        cursor.execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + retention.SQL[name], values, prepare=False
        )
        row = cursor.fetchone()
        assert row is not None
        cursor.execute("ROLLBACK TO SAVEPOINT before")
        plan = row[0][0]["Plan"]
        assert {kind for kind, table in _scans(plan) if table} & {"Seq Scan"} == set(), name
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < most, name


@pytest.mark.parametrize("name", CHUNKS)
def test_a_plan_that_is_kept_from_empty_tables_reads_none_from_end_to_end(name: str) -> None:
    run("SET LOCAL plan_cache_mode = force_generic_plan")
    cursor = connections.shared_cursor()
    planning.by_index(cursor)
    cursor.execute("EXPLAIN (FORMAT JSON) " + retention.SQL[name], CHUNKS[name][0])
    row = cursor.fetchone()
    assert row is not None
    assert "Seq Scan" not in json.dumps(row[0])
