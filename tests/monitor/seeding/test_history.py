"""A made-up history keeps the rules of a real one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from monitor.domain import fingerprint, keys
from monitor.domain.errors import RefusedError
from monitor.engine import drain, registry
from monitor.engine.life import Life
from monitor.management.commands import seed
from monitor.reports import system
from monitor.seeding import history
from monitor.seeding.shape import Shape
from tests.rows import one, rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("emptied_inbox")]
SHAPE = Shape.of(4_000, dead=None, sessions=200, seed=7, days=1)


def test_a_redelivery_of_a_made_up_message_is_its_duplicate() -> None:
    history.fill(SHAPE)
    for origin, key, payload, content_type, dedup, mark in rows(
        "SELECT m.origin, m.key, m.payload, m.content_type, d.key, d.fingerprint"
        " FROM comboio_message m JOIN comboio_dedup d ON d.message_id = m.id"
    ):
        assert keys.dedup_key(origin, key) == dedup
        assert fingerprint.fingerprint(payload, content_type) == mark


def test_nothing_is_done_behind_what_stops_its_session() -> None:
    history.fill(SHAPE)
    behind = (
        "SELECT count(*) FROM comboio_message m JOIN comboio_done d ON d.id = m.id JOIN {stop} s"
        " ON s.session = m.session AND m.id > s.{head}"
        " WHERE NOT EXISTS (SELECT FROM comboio_mismatch x WHERE x.accepted_id = m.id)"
    )
    assert one(behind.format(stop="comboio_gate", head="dead_message")) == 0
    assert one(behind.format(stop="comboio_in_doubt", head="id")) == 0
    assert one("SELECT count(*) FROM comboio_gate WHERE dead_message IS NOT NULL") > 0
    assert (
        one(
            "SELECT count(*) FROM comboio_sequence q JOIN comboio_ready r USING (session)"
            " WHERE r.sequence < q.next"
        )
        == 0
    )


def test_every_kind_of_thing_is_there() -> None:
    made = history.fill(SHAPE)
    assert made.dead == SHAPE.dead
    for table in (
        *("ready", "waiting", "in_doubt", "done", "discarded", "gate", "sequence", "duplicate"),
        *("event", "effect", "evidence", "alert", "audit", "bulk", "bulk_item", "worker"),
        *("rollup", "total", "consumer_snapshot", "session_snapshot", "breaker", "mismatch"),
    ):
        assert one(f"SELECT count(*) FROM comboio_{table}") > 0, table
    kinds = {kind for (kind,) in rows("SELECT DISTINCT kind FROM comboio_alert")}
    assert len(kinds) == 7
    verdicts = {found for (found,) in rows("SELECT DISTINCT verdict FROM comboio_mismatch")}
    assert verdicts == {None, "keep first", "accept second"}


def test_a_second_history_is_refused_unless_it_is_asked_for() -> None:
    history.fill(SHAPE)
    with pytest.raises(RefusedError, match="--add"):
        history.fill(SHAPE)
    history.fill(SHAPE, add=True)
    assert system.read().books.balanced is True
    assert one("SELECT count(*) FROM comboio_message") > 2 * SHAPE.messages


def test_a_worker_runs_none_of_it() -> None:
    history.fill(SHAPE)
    before = one("SELECT count(*) FROM comboio_done")
    assert not any(each.name.startswith("seed.") for each in registry.all_consumers())
    life = Life("worker")
    drain.drain(life, seconds=5.0)
    life.end()
    assert one("SELECT count(*) FROM comboio_done") == before


def test_another_database_than_that_of_up_needs_a_yes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(seed, "connection", SimpleNamespace(settings_dict={"HOST": "db.example"}))
    with pytest.raises(CommandError, match="--yes"):
        call_command("seed", messages=4_000)
    call_command("seed", messages=4_000, yes=True, sessions=100, days=1)
    assert "dead" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"messages": 10}, "At least"),
        ({"messages": 5_000, "dead": 4_000}, "At most"),
        ({"messages": 5_000, "sessions": 0}, "sessions"),
    ],
)
def test_a_shape_that_is_none_is_refused_in_words(sizes: dict[str, int], told: str) -> None:
    given = {"dead": None, "sessions": None, "seed": 1, "days": 1, **sizes}
    with pytest.raises(ValueError, match=told):
        Shape.of(**given)
