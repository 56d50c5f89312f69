"""Keeps the order of a batch when a copy of one of its messages came in at the same moment.

Ids are drawn before the conditional insert decides. Of a batch [a, b] whose a loses to a copy on
another connection, a has the copy's id, and that may be above the one that b drew: b would run
first. What stands behind such a loser in its session takes new ids, above the winner's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg

from monitor.store import inbox
from monitor.store.inbox import Judgement, Row


def keep(
    cursor: psycopg.Cursor[Any], rows: Sequence[Row], judged: Sequence[Judgement]
) -> list[Judgement]:
    """The judgements of a batch, by place, with the ids that its messages have in the end.

    Wants the transaction in which they were accepted: nobody has seen those ids yet.
    """
    highest: dict[tuple[int, int], int] = {}
    behind: dict[int, Row] = {}
    for each in judged:
        row = rows[each.place]
        session = (row.consumer_id, row.session_hash)
        if not row.session_hash:
            continue
        if each.is_new and highest.get(session, 0) > each.message_id:
            behind[each.message_id] = row
        else:
            highest[session] = max(highest.get(session, 0), each.message_id)
    if not behind:
        return list(judged)
    moved = inbox.move_behind(cursor, list(behind.values()), list(behind))
    return [
        replace(each, message_id=moved.get(each.message_id, each.message_id)) for each in judged
    ]
