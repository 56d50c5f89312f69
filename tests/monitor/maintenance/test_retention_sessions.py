"""Sessions are forgotten with how far they had come, and never under a message that needs one."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from monitor.engine import ingest
from monitor.maintenance import retention
from monitor.store import connections
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.faults.injectors import waits_for_a_lock
from tests.monitor.maintenance.aged import age, message, purge
from tests.rows import one, rows, run
from tests.waiting import wait_until


@pytest.fixture
def consumer(db: None) -> int:
    return factories.consumer()


@pytest.fixture
def used_up(transactional_db: None) -> Iterator[None]:
    """A session whose messages came and went long ago; its consumer is there."""
    with consuming(lambda _payload, _message: None):
        send(delivery("a", session="s"))
        drain_all()
        age(30)
        yield


def sessions() -> list[str]:
    return [row[0] for row in rows("SELECT key FROM comboio_session ORDER BY key")]


def _id(key: str) -> int:
    return int(one("SELECT id FROM comboio_session WHERE key = %(key)s", key=key))


def test_a_session_without_messages_goes_when_it_is_as_old_as_forgotten_keys(consumer: int) -> None:
    for key, days in (("old", 15), ("young", 13)):
        message(consumer, days, session=key)
        run(
            "UPDATE comboio_session SET created_at = now() - make_interval(days => %(d)s)"
            " WHERE key = %(key)s",
            d=days,
            key=key,
        )
    message(consumer, 1, session="in use")
    run("UPDATE comboio_session SET created_at = now() - interval '1 year' WHERE key = 'in use'")
    purge()
    assert sessions() == ["in use", "young"]


def test_what_a_session_remembers_goes_with_it_and_not_before(consumer: int) -> None:
    for key in ("rested", "counted lately", "waits for a number", "held"):
        message(consumer, 30, session=key)
        run("INSERT INTO comboio_sequence (session, lane, next) VALUES (%(s)s, 1, 7)", s=_id(key))
    run("INSERT INTO comboio_natural VALUES (%(s)s, 5)", s=_id("rested"))
    factories.gate(_id("held"), held_by="anna")
    age(30)
    run(
        "UPDATE comboio_sequence SET changed_at = now() - interval '13 days' WHERE session = %(s)s",
        s=_id("counted lately"),
    )
    run(
        "UPDATE comboio_sequence SET gap_since = now() - interval '1 year' WHERE session = %(s)s",
        s=_id("waits for a number"),
    )
    kept = {_id(key) for key in ("counted lately", "waits for a number", "held")}
    purge()
    assert sessions() == ["counted lately", "held", "waits for a number"]
    assert {row[0] for row in rows("SELECT session FROM comboio_sequence")} == kept
    assert one("SELECT count(*) FROM comboio_natural") == 0


def test_a_version_is_remembered_as_long_as_keys_after_the_last_message_of_its_session(
    consumer: int,
) -> None:
    for _ in range(3):
        message(consumer, 13, session="state")
    run("INSERT INTO comboio_natural VALUES (%(s)s, 5)", s=_id("state"))
    age(1)
    run("UPDATE comboio_done SET at = now() - interval '13 days'")
    run("UPDATE comboio_session SET created_at = now() - interval '1 year'")
    purge()
    assert one("SELECT count(*) FROM comboio_message") == 1  # its age is that of the version
    assert one("SELECT version FROM comboio_natural") == 5
    age(2)
    purge()
    assert one("SELECT count(*) FROM comboio_message") == 0
    assert (sessions(), one("SELECT count(*) FROM comboio_natural")) == ([], 0)


def test_a_session_in_a_busy_lane_stays_until_it_is_free(consumer: int, used_up: None) -> None:
    with connections.connect() as other:
        other.execute("SELECT lane FROM comboio_lane FOR UPDATE")
        purge()
        assert sessions() == ["s"]
    purge()
    assert sessions() == []


def test_a_session_that_an_open_ingest_has_found_stays(used_up: None) -> None:
    with connections.connect() as other:
        ingest.accept(other.cursor(), [delivery("b", session="s")])
        purge()
        assert sessions() == ["s"]
    purge()
    assert sessions() == ["s"]
    assert one("SELECT count(*) FROM comboio_message") == 1


def test_a_session_whose_ingest_commits_while_it_goes_stays(
    used_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = retention._wait_for
    with connections.connect() as other:
        ingest.accept(other.cursor(), [delivery("b", session="s")])

        def commit_and_wait(*values: Any) -> None:
            other.commit()
            waiting(*values)

        monkeypatch.setattr(retention, "_wait_for", commit_and_wait)
        purge()
    assert sessions() == ["s"]
    assert one("SELECT session FROM comboio_message") == _id("s")


def test_an_ingest_that_meets_a_session_on_its_way_out_makes_it_anew(
    used_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = Thread(target=_send_from_elsewhere)
    waiting = retention._wait_for

    def wait(*values: Any) -> None:
        sender.start()
        wait_until(lambda: waits_for_a_lock("sender"), what="an ingest that waits for the purge")
        waiting(*values)

    monkeypatch.setattr(retention, "_wait_for", wait)
    purge()
    sender.join(10)
    assert sessions() == ["s"]
    assert one("SELECT session FROM comboio_message") == _id("s")


def _send_from_elsewhere() -> None:
    with connections.connect(application_name="sender") as own:
        ingest.accept(own.cursor(), [delivery("b", session="s")])
