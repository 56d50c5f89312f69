"""A cut COMMIT is cut exactly where it was asked for."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import psycopg
import pytest

from config.launch import postgres
from monitor.store import connections
from proof.world.proxy import CommitProxy, Cut
from proof.world.server import Server
from tests.proof.world.folders import open_folder
from tests.waiting import wait_until

_SLOW_COMMITS = """
    CREATE TABLE slow (n int);
    CREATE FUNCTION sleeps() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER sleeps AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION sleeps()"""
_COMMITTING = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT'"


class Pair:
    def __init__(self, server: Server, proxy: CommitProxy) -> None:
        self.server = server
        self.proxy = proxy

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(postgres.url(self.proxy.sockets, "postgres"), connect_timeout=5)

    def rows(self, n: int) -> int:
        with psycopg.connect(self.server.url("postgres")) as direct:
            # Waits for a twin that is still committing.
            direct.execute("LOCK TABLE cut IN SHARE MODE")
            row = direct.execute("SELECT count(*) FROM cut WHERE n = %s", [n]).fetchone()
            assert row is not None
            return int(str(row[0]))


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with open_folder() as folder:
        history = folder / "history"
        history.mkdir()
        server = Server(folder / "pg")
        proxy = CommitProxy(folder / "proxy", server.sockets, history)
        try:
            server.start()
            proxy.start()
            with psycopg.connect(server.url("postgres"), autocommit=True) as direct:
                direct.execute("CREATE TABLE cut (n int)")
            yield Pair(server, proxy)
        finally:
            proxy.stop()
            server.stop()


def insert(pair: Pair, n: int) -> None:
    with pair.connect() as connection:
        connection.execute("INSERT INTO cut VALUES (%s)", [n])


def cuts(pair: Pair, before: int) -> list[dict[str, object]]:
    return wait_until(lambda: pair.proxy.cuts()[before:], what="the cut")


def _commit(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with suppress(psycopg.Error):
        connection.commit()


def test_what_is_not_cut_goes_through(pair: Pair) -> None:
    text = "x" * 3_000_000
    with pair.connect() as connection:
        row = connection.execute("SELECT %s", [text]).fetchone()
    assert row == (text,)


@pytest.mark.parametrize(("kind", "rows"), [(Cut.BEFORE, 0), (Cut.AFTER, 1), (Cut.RACE, 1)])
def test_a_cut_client_does_not_know_and_the_server_does(pair: Pair, kind: Cut, rows: int) -> None:
    before = len(pair.proxy.cuts())
    n = before + 1000
    pair.proxy.arm(kind)
    with pytest.raises(psycopg.OperationalError):
        insert(pair, n)
    (told,) = cuts(pair, before)
    assert (told["kind"], told["committed"]) == (kind, bool(rows))
    assert pair.rows(n) == rows
    insert(pair, n + 500)  # Only one was ordered.
    assert pair.rows(n + 500) == 1


def test_a_client_that_dies_before_it_is_cut_off_leaves_the_order_to_the_next(pair: Pair) -> None:
    before = len(pair.proxy.cuts())
    n = before + 5000
    with psycopg.connect(pair.server.url("postgres"), autocommit=True) as direct:
        direct.execute(_SLOW_COMMITS)
        dies = pair.connect()
        dies.execute("INSERT INTO slow VALUES (1)")
        pair.proxy.arm(Cut.AFTER)
        committing = Thread(target=_commit, args=(dies,))
        committing.start()
        wait_until(lambda: direct.execute(_COMMITTING).fetchone() == (1,), what="a slow COMMIT")
        with socket.socket(fileno=os.dup(dies.pgconn.socket)) as link:
            link.shutdown(socket.SHUT_RDWR)
        committing.join(10)
    with pytest.raises(psycopg.OperationalError):
        insert(pair, n)
    (told,) = cuts(pair, before)
    assert (told["kind"], pair.rows(n)) == (Cut.AFTER, 1)


def test_a_transaction_that_wrote_nothing_is_not_worth_a_cut(pair: Pair) -> None:
    before = len(pair.proxy.cuts())
    pair.proxy.arm(Cut.BEFORE)
    with pair.connect() as connection:
        connection.execute("SELECT count(*) FROM cut")
    assert len(pair.proxy.cuts()) == before
    with pytest.raises(psycopg.OperationalError):
        insert(pair, 1)


def test_a_hung_commit_ends_only_by_the_clients_own_watchdog(pair: Pair) -> None:
    before = len(pair.proxy.cuts())
    pair.proxy.arm(Cut.HANG)
    connection = pair.connect()
    connection.execute("INSERT INTO cut VALUES (7)")
    committer = Thread(target=_commit, args=(connection,))
    committer.start()
    (told,) = cuts(pair, before)
    assert told["committed"] is True
    committer.join(0.5)
    assert committer.is_alive()
    connections.discard(connection)
    committer.join(10)
    assert not committer.is_alive()
    wait_until(pair.proxy.freed, what="the client's end")


def test_a_server_that_is_away_is_away_for_clients_too(pair: Pair) -> None:
    with pair.connect() as connection:
        pair.server.kill()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    insert(pair, 8)
    assert pair.rows(8) == 1


def _commit(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with pytest.raises(psycopg.Error):
        connection.commit()
