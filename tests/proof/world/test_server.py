"""The server of a run keeps what it committed, whatever the faults do to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from proof.world.server import Server
from tests.proof.world.folders import open_folder
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with open_folder() as folder:
        made = Server(folder / "pg", disk_bytes=400 * 1024**2)
        made.start()
        yield made
        made.stop()


def ask(server: Server, query: str) -> object:
    with psycopg.connect(server.url("postgres"), connect_timeout=5) as connection:
        row = connection.execute(query).fetchone()
        return row and row[0]


def test_it_is_durable(server: Server) -> None:
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        assert ask(server, f"SHOW {name}") == "on"


def test_what_was_committed_survives_a_kill_of_all_its_processes(server: Server) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        seconds = server.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert ask(server, "SELECT n FROM kept") == 42
    assert 0 < seconds < 30


def test_a_step_of_the_clock_moves_now_and_the_server_works_on(server: Server) -> None:
    if server.clock.why_not:
        pytest.skip(server.clock.why_not)
    with psycopg.connect(server.url("postgres"), autocommit=True) as open_before:

        def clock() -> float:
            query = "SELECT extract(epoch FROM clock_timestamp())::float8"
            row = open_before.execute(query).fetchone()
            assert row is not None
            return float(row[0])

        before = clock()
        assert server.step_clock(3600)
        wait_until(lambda: 3600 <= clock() - before < 3660, what="an hour")
        assert open_before.execute("SELECT pg_sleep(0.01) IS NOT NULL").fetchone() == (True,)
        assert server.step_clock(-3600)
        wait_until(lambda: 0 <= clock() - before < 60, what="the hour before")


def test_a_full_disk_refuses_rows_and_all_goes_on_when_there_is_room(server: Server) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE load (text text)")
    if not server.fill_disk():
        pytest.skip(server.disk.why_not)
    refusals = []
    insert = "INSERT INTO load SELECT repeat(md5(n::text), 20) FROM generate_series(1, 50000) n"
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(insert)
    except psycopg.Error as error:
        refusals.append(error.sqlstate)
    assert refusals
    assert server.complaints()
    server.free_disk()

    def inserts() -> bool:
        server.mend()
        with suppress(psycopg.OperationalError):
            ask(server, f"{insert} RETURNING 1")
            return True
        return False

    wait_until(inserts, 30, what="room for rows")
    assert ask(server, "SELECT count(*) FROM load") == 50000


def test_nothing_is_left_behind() -> None:
    with open_folder() as folder:
        made = Server(folder / "pg")
        made.start()
        made.stop()
        assert not (folder / "pg").exists()
        assert str(folder) not in Path("/proc/mounts").read_text()
