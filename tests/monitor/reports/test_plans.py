"""No report reads a big table from end to end: plans on a seeded database, analysed or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from monitor.domain.states import State
from monitor.domain.triage import GroupKey, GroupState
from monitor.metrics import figures
from monitor.reports import (
    alerts,
    annotation,
    audit,
    consumer_work,
    consumers,
    corrections,
    dead_letters,
    duplicates,
    effects,
    growth,
    messages,
    mismatches,
    overview,
    payloads,
    preview,
    requeues,
    revealed,
    sessions,
    trends,
    triage,
    triage_members,
)
from monitor.reports.page import Place
from tests import factories, factory_figures, factory_triage
from tests.rows import one, run

MESSAGES, DEAD, SESSIONS = 40_000, 4_000, 4_000
BIG = (
    "comboio_message",
    "comboio_done",
    "comboio_ready",
    "comboio_dead",
    "comboio_dedup",
    "comboio_session",
    "comboio_duplicate",
    "comboio_event",
    "comboio_effect",
    "comboio_evidence",
    "comboio_in_doubt",
    "comboio_lease",
    "comboio_audit",
    "comboio_sequence",
    "comboio_waiting",
    "comboio_revision",
    "comboio_bulk_item",
)
HOUR_AGO = datetime.now(UTC) - timedelta(hours=1)
LONG_AGO = datetime.now(UTC) - timedelta(days=7)
MIDDLE = Place(sort=str(MESSAGES // 2), id=MESSAGES // 2)
# (what, call): "{}" of a call takes the ids of the seed
CALLS: list[tuple[str, Callable[[dict[str, int]], Any]]] = [
    ("overview", lambda _: overview.read()),
    ("metrics", lambda _: figures.read()),
    ("consumers", lambda _: consumers.every()),
    ("one consumer", lambda seed: consumers.detail(seed["consumer"])),
    *((f"trend of {each.name}", lambda _, r=each: trends.read(r)) for each in trends.RANGES),
    ("trend of one", lambda seed: trends.read(trends.RANGES[0], consumer=seed["consumer"])),
    ("annotations", lambda _: annotation.since(LONG_AGO)),
    ("annotations of one", lambda seed: annotation.since(LONG_AGO, consumer=seed["consumer"])),
    ("types of one", lambda seed: consumer_work.types(seed["consumer"], since=LONG_AGO)),
    ("workers of one", lambda seed: consumer_work.workers(seed["consumer"])),
    ("causes of one", lambda seed: dead_letters.groups(consumer=seed["consumer"])),
    ("messages", lambda _: messages.page()),
    ("messages in the middle", lambda _: messages.page(MIDDLE.text())),
    ("messages before", lambda _: messages.page(Place(sort="9", id=9, back=True).text())),
    ("messages of a consumer", lambda seed: messages.page(consumer=seed["consumer"])),
    ("messages of a session", lambda seed: messages.page(session=seed["session"])),
    *((f"{state} messages", lambda _, s=state: messages.page(state=s)) for state in State),
    ("find by key", lambda _: messages.find("key-12")),
    ("find by id", lambda seed: messages.find(str(seed["message"]))),
    ("one message", lambda seed: messages.detail(seed["message"])),
    ("payload", lambda seed: payloads.of_message(seed["message"])),
    ("sessions", lambda _: sessions.page()),
    ("one session", lambda seed: sessions.detail(seed["session"])),
    ("preview of a session", lambda seed: preview.of_session(seed["session"], seed["consumer"])),
    ("previews", lambda seed: preview.of_sessions([(s, seed["consumer"]) for s in range(50)])),
    ("preview of a requeue", lambda seed: preview.of_requeue(5, seed["session"], seed["consumer"])),
    ("corrections", lambda _: corrections.of_message(5, is_revealed=True)),
    ("editor", lambda _: corrections.current(5)),
    ("dead letters", lambda _: dead_letters.page()),
    ("dead letters of a cause", lambda _: dead_letters.page(cause="cause-1")),
    ("causes", lambda _: dead_letters.groups()),
    ("one dead letter", lambda seed: dead_letters.detail(seed["dead"])),
    ("plan of a requeue", lambda _: requeues.plan()),
    ("plan of a cause", lambda _: requeues.plan(cause="cause-1")),
    ("plan of a consumer", lambda seed: requeues.plan(consumer=seed["consumer"])),
    ("requeues", lambda _: requeues.page()),
    ("one requeue", lambda _: requeues.detail(1)),
    ("mismatches", lambda _: mismatches.page()),
    ("both payloads", lambda seed: mismatches.comparison(seed["mismatch"])),
    ("a revealed message", lambda seed: revealed.of_message(seed["message"])),
    ("a revealed mismatch", lambda seed: revealed.of_mismatch(seed["mismatch"])),
    ("a revealed effect", lambda _: revealed.of_effect(7)),
    ("one mismatch", lambda seed: mismatches.detail(seed["mismatch"])),
    *((f"effects: {show}", lambda _, s=show: effects.page(show=s)) for show in effects.SHOWN),
    ("one effect", lambda _: effects.detail(7)),
    ("duplicates", lambda _: duplicates.read()),
    ("alerts", lambda _: alerts.page()),
    ("badge", lambda _: alerts.open_count()),
    ("groups", lambda _: triage.page()),
    ("resolved groups", lambda _: triage.page(state=GroupState.RESOLVED)),
    ("one group", lambda seed: triage.detail(seed["group"])),
    ("groups of a cause", lambda _: triage.of_cause("cause-1")),
    ("badge of groups", lambda _: triage.calling()),
    ("members of a group", lambda seed: triage_members.page(_held(seed))),
    ("why grouped", lambda seed: triage_members.why(_dead(seed))),
    ("audit", lambda _: audit.page()),
    ("audit of a span", lambda _: audit.page(since=HOUR_AGO, until=datetime.now(UTC))),
    ("audit of a message", lambda _: audit.page(thing=("message", 7))),
]


def test_no_list_reads_a_big_table_from_end_to_end(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In proportion to the small seed: a cause is counted up to a part of the table.
    monkeypatch.setattr(dead_letters, "CAP", 100)
    monkeypatch.setattr(requeues, "MOST", 100)
    monkeypatch.setattr(growth, "CAP", 100)
    seed = _seed()
    run("ANALYZE")  # as autovacuum does within a minute of the first messages
    found = {
        (what, table)
        for what, call in CALLS
        for statement, values in _statements(call, seed)
        for table in _read_whole(statement, values)
    }
    assert found == set()


def _seed() -> dict[str, int]:
    consumer = factories.consumer(when_dead="hold")
    lane = consumer * 256
    run(
        "INSERT INTO comboio_session (id, consumer, key)"
        f" SELECT s, {consumer}, 'session-' || s FROM generate_series(1, {SESSIONS}) s"
    )
    run(
        "INSERT INTO comboio_message (id, consumer, lane, session, source, origin, key, type,"
        f" content_type, payload, headers) SELECT i, {consumer}, {lane} + i %% 256,"
        f" 1 + i %% {SESSIONS}, 'test', 'test', 'key-' || i, 't', 'application/json', '1', '{{}}'"
        f" FROM generate_series(1, {MESSAGES}) i"
    )
    run(
        "INSERT INTO comboio_dedup (consumer, key, message_id, fingerprint, hash_version)"
        " SELECT consumer, gen_random_uuid(), id, ''::bytea, 1 FROM comboio_message"
    )
    run(
        "INSERT INTO comboio_dead (id, consumer, lane, session, reason, cause)"
        f" SELECT id, consumer, lane, session, 'poison', 'cause-' || id %% 3 FROM comboio_message"
        f" WHERE id <= {DEAD}"
    )
    run(
        "INSERT INTO comboio_ready SELECT lane, session, id FROM comboio_message"
        f" WHERE id > {MESSAGES - DEAD}"
    )
    run(
        "INSERT INTO comboio_done (id, consumer, ms, attempts) SELECT id, consumer, 1, 1"
        f" FROM comboio_message WHERE id BETWEEN {DEAD + 1} AND {MESSAGES - DEAD}"
    )
    run(
        "INSERT INTO comboio_duplicate (message_id, n, consumer, source, cause, gap_seconds, at)"
        " SELECT id, 1, consumer, source, 'repeated', 1, now() - id * interval '1 s'"
        " FROM comboio_message"
    )
    run(
        "INSERT INTO comboio_effect (message_id, consumer, name, key, kind, request, request_hash,"
        " state, settle_seconds) SELECT id, consumer, 'charge', 'key-' || id, 'keyed', '{}', '',"
        " CASE WHEN id %% 10 = 0 THEN 'in doubt' ELSE 'completed' END, 1 FROM comboio_message"
    )
    run(
        "INSERT INTO comboio_evidence (effect_id, source, verdict)"
        " SELECT id, 'call', 'done' FROM comboio_effect"
    )
    run(
        "INSERT INTO comboio_in_doubt (id, consumer, lane, session, effect_id, attempts)"
        " SELECT id, consumer, lane, session, id, 1 FROM comboio_message"
        f" WHERE id BETWEEN {DEAD + 1} AND {MESSAGES - DEAD}"
    )
    run(
        "INSERT INTO comboio_lease (session, lane, consumer, message_id, slot, expires_at)"
        " SELECT DISTINCT ON (session) session, lane, consumer, id, 1, now() FROM comboio_message"
    )
    run(
        "INSERT INTO comboio_waiting (id, consumer, lane, session, due_at)"
        " SELECT id, consumer, lane, session, now() + interval '1 h' FROM comboio_message"
        f" WHERE id BETWEEN {DEAD + 1} AND {MESSAGES - DEAD}"
    )
    run(
        "INSERT INTO comboio_sequence (session, lane, next, gap_since) SELECT s, s %% 256, 1,"
        f" CASE WHEN s %% 40 = 0 THEN now() END FROM generate_series(1, {SESSIONS}) s"
    )
    run(
        "INSERT INTO comboio_revision (message_id, revision, payload, content_type, fingerprint,"
        " hash_version, actor, reason) SELECT id, 2, '1', 'application/json', '', 1, 'anna', 'typo'"
        " FROM comboio_message"
    )
    run("INSERT INTO comboio_event (message_id, kind) SELECT id, 'failed' FROM comboio_message")
    run(
        "INSERT INTO comboio_audit (actor, verb, object_kind, object_id)"
        " SELECT 'anna', 'requeue', 'message', id FROM comboio_message"
    )
    bulk = one(
        "INSERT INTO comboio_bulk (state, up_to_version, actor, failure_limit, total)"
        " VALUES ('done', 1, 'anna', 1, 4000) RETURNING id"
    )
    run(f"INSERT INTO comboio_bulk_item (bulk, id, seen) SELECT {bulk}, id, 1 FROM comboio_dead")
    factory_figures.worker(process="child", ids=[7])
    run(f"SELECT setval('comboio_message_id', {MESSAGES})")
    factory_figures.snapshot()
    newest = factories.message(consumer)
    mismatch = factories.mismatch(newest)
    for cause in range(3):
        group = factories.alert(consumer, subject=f"cause-{cause}", target=1)
    factory_triage.said(consumer, kind="dead letter", cause="cause-1", snoozed_for=1)
    run(
        "INSERT INTO comboio_alert (kind, consumer, subject, cause, title, target)"
        f" SELECT 'held session', {consumer}, s::text, 'c', 't', s FROM generate_series(1, 500) s"
    )
    session = one("SELECT session FROM comboio_message WHERE id = 5")
    return {
        "consumer": consumer,
        "message": newest,
        "dead": 5,
        "session": session,
        "mismatch": mismatch,
        "group": group,
    }


def _held(seed: dict[str, int]) -> GroupKey:
    return GroupKey(kind="held session", consumer=seed["consumer"], cause="c")


def _dead(seed: dict[str, int]) -> GroupKey:
    return GroupKey(kind="dead letter", consumer=seed["consumer"], cause="cause-1")


def _statements(
    call: Callable[[dict[str, int]], Any], seed: dict[str, int]
) -> list[tuple[str, Any]]:
    caught: list[tuple[str, Any]] = []

    def catch(execute: Any, statement: str, values: Any, many: bool, context: Any) -> Any:
        caught.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(catch):
        call(seed)
    return [each for each in caught if "comboio_" in each[0]]


def _read_whole(statement: str, values: Any) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
        plan = cursor.fetchone()[0]
    root = json.loads(plan) if isinstance(plan, str) else plan
    for node in _nodes(root[0]["Plan"]):
        table = node.get("Relation Name", "").removesuffix("_default")
        if node["Node Type"] in ("Seq Scan", "Parallel Seq Scan") and table in BIG:
            yield f"{table}: {statement.splitlines()[0]}"


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)
