"""Connections of our own: Django's settings, a deadline, and nothing shared with children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psycopg
import pytest
from django.db import connection as django_connection

from monitor.store import connections
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LOCK = 4711
# Takes a lock, forks a child that lives on, and tells both process ids.
PARENT = f"""
import os, signal, sys
import django
django.setup()
from monitor.store import connections
own = connections.connect(autocommit=True, application_name="parent")
own.execute("SELECT pg_advisory_lock({LOCK})")
child = os.fork()
if child == 0:
    own.closed
    signal.pause()
print(child, flush=True)
signal.pause()
"""


def test_a_connection_has_the_session_settings_of_django() -> None:
    with connections.connect(application_name="someone") as own:
        assert own.execute("SHOW lock_timeout").fetchone() == ("2s",)
        assert own.execute("SHOW application_name").fetchone() == ("someone",)
        assert own.execute("""SELECT '{"a": 1}'::jsonb""").fetchone() == ({"a": 1},)
        assert own.info.dbname == django_connection.settings_dict["NAME"]


def test_opening_one_leaves_djangos_own_connection_alone() -> None:
    django_connection.close()
    connections.connect().close()
    assert django_connection.connection is None


def test_a_wait_that_outlives_its_deadline_ends_in_an_error() -> None:
    with (
        connections.connect() as own,
        pytest.raises(psycopg.OperationalError),
        connections.deadline(own, 0.1),
    ):
        own.execute("SELECT pg_sleep(20)")
    assert own.broken


def test_a_deadline_that_is_kept_leaves_the_connection_usable() -> None:
    with connections.connect() as own:
        with connections.deadline(own, 20):
            own.execute("SELECT 1")
        assert own.execute("SELECT 2").fetchone() == (2,)


def test_a_discarded_connection_is_closed_at_once() -> None:
    own = connections.connect()
    connections.discard(own)
    assert own.closed


def test_the_child_of_a_killed_parent_does_not_hold_its_locks(database_url: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env={**os.environ, "DATABASE_URL": database_url},
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        try:
            parent.kill()
            parent.wait(10)
            with connections.connect(autocommit=True) as own:
                wait_until(lambda: _takes_lock(own), 5, what="the lock of the killed parent")
            os.kill(child, 0)  # The child still lives, so this was no accident.
        finally:
            os.kill(child, signal.SIGKILL)


def _takes_lock(own: connections.Connection) -> bool:
    row = own.execute(f"SELECT pg_try_advisory_lock({LOCK})").fetchone()
    return bool(row and row[0])
