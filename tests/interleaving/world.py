"""What schedules share: a quick reset, a ledger of effects, and what holds after every one."""

from __future__ import annotations

from random import Random
from threading import current_thread
from typing import Any

from monitor.engine import directory
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store import connections
from tests.interleaving import seam
from tests.rows import one, rows, run

_KEPT = ("comboio_consumer", "comboio_lane")
_RESETS_PER_VACUUM = 200
_LEDGER = "CREATE UNLOGGED TABLE interleaving_ledger (n bigserial, key text, actor text)"
_STATES = ("ready", "in_doubt", "done", "dead", "discarded")


class World:
    """The database between two schedules."""

    def __init__(self) -> None:
        self.side = connections.connect(autocommit=True, application_name="interleaving")
        tables = rows(
            "SELECT relname FROM pg_class WHERE relname LIKE 'comboio%%' AND relkind = 'r'"
            " AND NOT relname = ANY(%(kept)s)",
            kept=list(_KEPT),
        )
        self._tables = [name for (name,) in tables] + ["interleaving_ledger"]
        self._resets = 0
        run("DROP TABLE IF EXISTS interleaving_ledger")
        run(_LEDGER)

    def reset(self) -> None:
        """Only consumers and lanes are left. Rows are deleted: TRUNCATE takes ten times as long."""
        deletes = ";".join(f"DELETE FROM {name}" for name in self._tables)
        self.side.execute(deletes, prepare=False)
        self._resets += 1
        if self._resets % _RESETS_PER_VACUUM == 0:
            self.side.execute(f"VACUUM {', '.join(self._tables)}", prepare=False)

    def close(self) -> None:
        """Drop what the schedules needed."""
        run("DROP TABLE interleaving_ledger")
        self.side.close()


def book(_payload: Any, message: Any) -> None:
    """A handler: one row of the ledger for each run that commits."""
    run(
        "INSERT INTO interleaving_ledger (key, actor) VALUES (%(key)s, %(actor)s)",
        key=message.key,
        actor=current_thread().name,
    )


def booked() -> list[str]:
    """The keys of the effects that are committed, in their order."""
    return [key for (key,) in rows("SELECT key FROM interleaving_ledger ORDER BY n")]


def owner(name: str = "test.apply") -> int:
    """The id of the declared consumer; workers find all consumers declared."""
    cursor = connections.shared_cursor()
    if not directory.is_complete():
        directory.declare(cursor)
    return directory.ids(cursor)[name]


def life() -> Life:
    """A worker process life that is registered already; registering is no step."""
    with seam.unscheduled():
        own = Life("test", random=Random(1))
        assert own.slot
        return own


def work(looks: int = 3) -> int:
    """A worker that stops at the so manieth look whether it shall: mostly after one batch."""
    own, left = life(), iter(range(looks))
    return drain(own, 30.0, lambda: next(left, None) is None)


def settle() -> None:
    """A worker runs whatever is left."""
    own = life()
    while drain(own, 10.0):
        pass


def states() -> dict[str, int]:
    """How many messages stand in each state."""
    return {each: int(one(f"SELECT count(*) FROM comboio_{each}")) for each in _STATES}


def check_states() -> None:
    """Every message is in exactly one state, and no state names a message that is not there."""
    union = " UNION ALL ".join(f"SELECT id FROM comboio_{each}" for each in _STATES)
    wrong = rows(
        "SELECT coalesce(m.id, s.id), count(s.id) FROM comboio_message m"
        f" FULL JOIN ({union}) s ON s.id = m.id"
        " GROUP BY 1 HAVING count(s.id) <> 1 OR count(m.id) < 1"
    )
    assert not wrong, f"messages with another number of states than one: {wrong}"


def audited() -> list[tuple[str, str]]:
    """Who did what, by the audit."""
    return rows("SELECT verb, actor FROM comboio_audit ORDER BY id")


def version(table: str, number: int, column: str = "id") -> int:
    """The version of a row, as a page would show it."""
    return int(one(f"SELECT version FROM {table} WHERE {column} = %(id)s", id=number))
