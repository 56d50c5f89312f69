"""Rows of requeues of many."""

from __future__ import annotations

from collections.abc import Sequence

from tests.rows import insert, one


def requeue(
    consumer: int,
    *,
    state: str = "stopped",
    why: str = "",
    processed: int = 9,
    failed: Sequence[int] = (),
    left: int = 30,
) -> int:
    """A requeue of the dead letters of a consumer, of which these messages failed again; its id."""
    number = insert(
        "comboio_bulk",
        state=state,
        why=why,
        consumer=consumer,
        up_to_version=1,
        actor="anna",
        failure_limit=0.2,
        total=processed + len(failed) + left,
        moved=processed + len(failed),
        processed=processed,
        failed_again=len(failed),
    )
    for message in failed:
        item(number, message, state="failed again")
    return int(number)


def item(number: int, message: int, *, state: str = "left") -> None:
    """A dead message of a requeue, as it was seen."""
    seen = one("SELECT version FROM comboio_dead WHERE id = %(id)s", id=message)
    insert("comboio_bulk_item", bulk=number, id=message, seen=seen, state=state)
