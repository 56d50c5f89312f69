"""Whoever runs while the database fails is not to blame for it."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.db.utils import OperationalError

from monitor.domain.message import Message
from monitor.engine.drain import drain
from monitor.engine.life import Life
from monitor.store import gates, workers
from tests.engine import consuming, delivery, die_with, drain_all, send
from tests.rows import one, run

pytestmark = pytest.mark.django_db(transaction=True)

DISK_FULL = "DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$"
CONNECTION_CUT = "SELECT pg_terminate_backend(pg_backend_pid())"


def drain_until_it_ends(life: Life, outages: int) -> None:
    """Drain again after each error, as a worker's next wake-up does."""
    for _ in range(outages):
        with pytest.raises(OperationalError):
            drain(life, 20)
    drain(life, 20)


@pytest.mark.parametrize("fault", [DISK_FULL, CONNECTION_CUT], ids=["disk full", "cut"])
def test_a_start_that_an_outage_ended_is_no_crash_of_its_message(fault: str) -> None:
    left = [4] if fault == DISK_FULL else [2]

    def work(_payload: Any, message: Message) -> None:
        if left[0]:
            left[0] -= 1
            with connection.cursor() as cursor:
                cursor.execute(fault)
        Group.objects.create(name=f"ran/{message.key}")

    life = Life("test")
    with consuming(work):
        send(delivery("a", session="s"))
        _make_suspect()
        drain_until_it_ends(life, left[0])
        life.end()
    assert one("SELECT count(*) FROM comboio_dead") == 0
    assert one("SELECT count(*) FROM comboio_done") == 1
    assert one("SELECT count(*) FROM comboio_gate") == 0


def test_a_full_disk_never_condemns_the_message_that_met_it() -> None:
    left = [5]

    def work(_payload: Any, message: Message) -> None:
        if left[0]:
            left[0] -= 1
            with connection.cursor() as cursor:
                cursor.execute(DISK_FULL)

    life = Life("test")
    with consuming(work):
        send(delivery("a", session="s"))
        drain_until_it_ends(life, 5)
        life.end()
    assert one("SELECT attempts FROM comboio_done") == 1


def test_a_worker_that_lost_its_lane_but_lives_is_no_death() -> None:
    with consuming(_work):
        send(delivery("a", session="s"))
        other = Life("other")
        other.announce([_waiting()])
        assert _suspects() == 0
        other.end()
    assert one("SELECT attempts FROM comboio_done") == 1


def test_a_worker_that_is_gone_leaves_a_suspect() -> None:
    with consuming(_work):
        send(delivery("a", session="s"))
        die_with(_waiting())
        assert _suspects() == 1


@pytest.mark.parametrize(("patience", "suspects"), [(1e9, 0), (0, 1)], ids=["soon", "later"])
def test_nobody_is_dead_until_all_had_time_to_come_back_after_a_restart_of_the_database(
    patience: float, suspects: int
) -> None:
    with consuming(_work):
        send(delivery("a", session="s"))
        die_with(_waiting())
        run("UPDATE comboio_worker SET at = pg_postmaster_start_time() - interval '1 second'")
        with mock.patch.object(workers, "RETURN_SECONDS", patience):
            assert _suspects() == suspects


def _waiting() -> int:
    return int(one("SELECT id FROM comboio_ready"))


def _suspects() -> int:
    """How many suspects the next worker takes in."""
    found: list[int] = []
    suspect = gates.suspect

    def noted(cursor: Any, suspects: dict[int, tuple[int, int]]) -> None:
        found.extend(suspects)
        suspect(cursor, suspects)

    with mock.patch.object(gates, "suspect", noted):
        drain_all()
    return len(found)


def _work(_payload: Any, message: Message) -> None:
    Group.objects.create(name=f"ran/{message.key}")


def _make_suspect() -> None:
    """As if a process had died with the message in its batch."""

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT session, lane, id FROM comboio_ready")
        session, lane, id_ = cursor.fetchone()
        gates.suspect(cursor, {session: (lane, id_)})
