"""Old rows: messages whose times lie as far back as a test says, and purges that begin anew."""

from __future__ import annotations

from monitor.maintenance import retention
from tests import factories
from tests.rows import one, run

_TIMES = {
    "comboio_message": ("id", ("received_at",)),
    "comboio_dedup": ("message_id", ("seen_at",)),
    "comboio_done": ("id", ("at",)),
    "comboio_discarded": ("id", ("at", "dead_at")),
    "comboio_dead": ("id", ("at",)),
    "comboio_in_doubt": ("id", ("at",)),
    "comboio_mismatch": ("message_id", ("first_at", "last_at", "verdict_at")),
    "comboio_effect": ("message_id", ("started_at", "called_at", "settled_at")),
}


def age(days: float) -> None:
    """Everything that stands in the inbox happened so many days earlier than it did."""
    for table, (_, columns) in _TIMES.items():
        _shift(table, columns, days, "true")
    for table, column in (
        ("comboio_session", "created_at"),
        ("comboio_sequence", "changed_at"),
        ("comboio_operation", "at"),
        ("comboio_audit", "at"),
    ):
        _shift(table, (column,), days, "true")
    _shift("comboio_alert", ("first_at", "last_at", "resolved_at"), days, "true")


def age_message(message_id: int, days: float) -> None:
    """One message and all that belongs to it happened so many days earlier than it did."""
    for table, (name, columns) in _TIMES.items():
        _shift(table, columns, days, f"{name} = {int(message_id)}")


def message(consumer: int, days: float, *, state: str = "done", **more: object) -> int:
    """A message that came and ended so many days ago; its id."""
    number = factories.message(consumer, state=state, **more)  # type: ignore[arg-type]
    age_message(number, days)
    return number


def purge() -> int:
    """Every purge from its beginning to its end; how many rows went."""
    purged = 0
    for each in retention.PURGES:
        each.again()
        while each.is_due():
            purged += each.run()
    return purged


def is_there(message_id: int) -> bool:
    """Whether the message still has its row."""
    return bool(one("SELECT count(*) FROM comboio_message WHERE id = %(id)s", id=message_id))


def is_remembered(message_id: int) -> bool:
    """Whether its key is still known."""
    return bool(one("SELECT count(*) FROM comboio_dedup WHERE message_id = %(id)s", id=message_id))


def _shift(table: str, columns: tuple[str, ...], days: float, where: str) -> None:
    told = ", ".join(f"{each} = {each} - make_interval(secs => %(seconds)s)" for each in columns)
    run(f"UPDATE {table} SET {told} WHERE {where}", seconds=days * 86_400)
