"""A process life says how far its clock is before the database's."""

from __future__ import annotations

import time

import psycopg
import pytest
from django.db import connection

from monitor.store import workers
from tests.rows import one

pytestmark = pytest.mark.django_db
SKEW = "SELECT skew_seconds FROM comboio_worker WHERE slot = %(s)s"


@pytest.mark.parametrize("ahead", [0.0, 30.0, -30.0])
def test_the_difference_of_the_clocks_is_kept_from_the_start_and_with_each_beat(
    ahead: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = time.time
    connection.ensure_connection()
    cursor = psycopg.Cursor(connection.connection)
    monkeypatch.setattr(time, "time", lambda: wall() + ahead)
    slot = workers.register(cursor, "worker")
    assert one(SKEW, s=slot) == pytest.approx(ahead, abs=2)
    monkeypatch.setattr(time, "time", lambda: wall() - ahead)
    assert workers.beat(cursor, slot)
    assert one(SKEW, s=slot) == pytest.approx(-ahead, abs=2)
