"""Bugs of what people and the clock do: holds, requeues, and what is forgotten when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from monitor import conf
from monitor.domain.source import DAY_SECONDS
from monitor.operations import locking
from monitor.store import requeues, retention
from proof.mutants.mutant import Mutant, put, swap


def _hold_without_lane() -> None:
    put(locking, "lanes", SimpleNamespace(lock=lambda *_: None))


def _double_requeue() -> None:
    _, _, rest = requeues.SQL["requeue"].partition("ready AS (")
    moved = "WITH moved AS (SELECT id, consumer, lane, session, '' AS reason, '' AS cause FROM comboio_message WHERE id = ANY(%(ids)s::bigint[])), gone AS (DELETE FROM comboio_dead WHERE id = ANY(%(ids)s::bigint[]))"  # noqa: E501
    rest = rest.replace("FROM moved\n)", "FROM moved ON CONFLICT DO NOTHING\n)", 1)
    requeues.SQL["requeue"] = f"{moved}, ready AS ({rest}"


def _retention_too_early() -> None:
    forget = retention.forget_keys

    def with_payloads(cursor: Any, **where: Any) -> int:
        days = conf.get().retention.payload_days
        return forget(cursor, **{**where, "seconds": days * DAY_SECONDS})

    put(retention, "forget_keys", with_payloads)


def _purge_of_open() -> None:
    ended = "FROM (TABLE ended UNION SELECT id, at FROM comboio_dead) all_of_them WHERE"
    swap(retention.SQL, "walk_done", "FROM comboio_done WHERE", ended)
    with_ended = "WITH ended AS (SELECT id, at FROM comboio_done) "
    retention.SQL["walk_done"] = with_ended + retention.SQL["walk_done"]


MUTANTS = (
    Mutant(
        name="hold without the lane",
        rule="When a hold returns, nothing of its session runs any more.",
        seam="operations/locking.py lanes",
        scene="holds",
        expected=("holds",),
        apply=_hold_without_lane,
    ),
    Mutant(
        name="double requeue",
        rule="A requeue applies to a message that is still dead as it was seen, and so once.",
        seam="requeues.sql requeue",
        scene="requeues",
        expected=("requeues",),
        apply=_double_requeue,
    ),
    Mutant(
        name="retention too early",
        rule="A key is remembered for as long as was promised, also without its payload.",
        seam="store/retention.py forget_keys",
        scene="retention",
        expected=("retention",),
        apply=_retention_too_early,
    ),
    Mutant(
        name="purge of open messages",
        rule="What waits for a person never goes by itself.",
        seam="retention.sql walk_done",
        scene="retention",
        expected=("retention",),
        apply=_purge_of_open,
    ),
)
