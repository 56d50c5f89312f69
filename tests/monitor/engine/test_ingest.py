"""Ingest: one insert judges, whatever comes at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from monitor.domain.states import Cause, Verdict
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)


def _ignore(_payload: object, _message: object) -> None:
    return None


def test_the_first_delivery_is_new_and_the_same_again_is_a_duplicate_of_it() -> None:
    with consuming(_ignore):
        ((first,),) = send(delivery("k"))
        ((second,),) = send(delivery("k"))
    assert (first.verdict, second.verdict) == (Verdict.NEW, Verdict.DUPLICATE)
    assert second.message_id == first.message_id
    assert second.cause == Cause.CONCURRENT
    assert one("SELECT duplicates FROM comboio_dedup") == 1


def test_a_duplicate_of_a_done_message_is_called_repeated() -> None:
    with consuming(_ignore):
        send(delivery("k"))
        drain_all()
        ((again,),) = send(delivery("k"))
    assert (again.cause, again.state) == (Cause.REPEATED, "done")


def test_equal_copies_in_one_batch_are_one_message() -> None:
    with consuming(_ignore):
        receipts = send(delivery("k"), delivery("k", redelivered=True), delivery("k"))
    assert [r[0].verdict for r in receipts] == ["new", "duplicate", "duplicate"]
    assert one("SELECT count(*) FROM comboio_ready") == 1
    assert one("SELECT duplicates FROM comboio_dedup") == 2


def test_other_payloads_of_one_key_in_one_batch_are_mismatches_and_the_first_stays() -> None:
    with consuming(_ignore):
        receipts = send(delivery("k", {"a": 1}), delivery("k", {"a": 2}), delivery("k", {"a": 2}))
    assert [r[0].verdict for r in receipts] == ["new", "mismatch", "mismatch"]
    assert rows("SELECT payload FROM comboio_message") == [(b'{"a":1}',)]
    assert rows("SELECT payload, count FROM comboio_mismatch") == [(b'{"a":2}', 2)]
    assert rows("SELECT kind, count FROM comboio_alert") == [("mismatch", 1)]


def test_every_consumer_of_a_source_gets_its_own_message() -> None:
    with (
        consuming(_ignore, name="billing"),
        consuming(_ignore, name="mail"),
        consuming(_ignore, name="never", types=("other",)),
    ):
        (receipts,) = send(delivery("42"))
        drain_all()
    assert sorted(r.consumer for r in receipts) == ["billing", "mail"]
    assert one("SELECT count(*) FROM comboio_done") == 2


def test_what_nobody_takes_is_a_dead_letter_with_an_alert() -> None:
    send(delivery("k"))
    assert rows("SELECT reason FROM comboio_dead") == [("no handler",)]
    assert one("SELECT count(*) FROM comboio_alert") == 1


def test_a_key_that_breaks_a_rule_is_refused_and_the_rest_of_its_batch_is_kept() -> None:
    with consuming(_ignore):
        receipts = send(delivery("a\x00b"), delivery("good"))
    assert [r[0].verdict for r in receipts] == ["refused", "new"]
    assert "control character" in receipts[0][0].reason
    assert one("SELECT count(*) FROM comboio_message") == 1


def test_twenty_senders_of_one_key_at_the_same_moment_make_one_message() -> None:
    barrier = threading.Barrier(20)

    def post(_number: int) -> str:
        try:
            connection.ensure_connection()
            barrier.wait(10)
            return str(send(delivery("evt_1"))[0][0].verdict)
        finally:
            connection.close()

    with consuming(_ignore), ThreadPoolExecutor(20) as pool:
        verdicts = sorted(pool.map(post, range(20)))
    assert verdicts == ["duplicate"] * 19 + ["new"]
    assert one("SELECT count(*) FROM comboio_message") == 1
    assert one("SELECT duplicates FROM comboio_dedup") == 19


def test_batches_with_the_same_keys_in_opposite_order_never_deadlock() -> None:
    names = [f"k{number}" for number in range(50)]
    barrier = threading.Barrier(2)

    def post(ordered: list[str]) -> None:
        try:
            connection.ensure_connection()
            for each in range(10):
                barrier.wait(10)
                send(*[delivery(f"{each}-{name}", session=name) for name in ordered])
        finally:
            connection.close()

    with consuming(_ignore), ThreadPoolExecutor(2) as pool:
        list(pool.map(post, [names, names[::-1]]))
    assert one("SELECT count(*) FROM comboio_message") == 500


def test_a_session_whose_hash_is_taken_by_another_gets_a_row_of_its_own() -> None:
    with consuming(_ignore):
        send(delivery("a", session="s"))
        with connection.cursor() as cursor:
            cursor.execute("UPDATE comboio_session SET key = 'other'")
        send(delivery("b", session="s"))
        send(delivery("c", session="s"))
    assert sorted(row[0] for row in rows("SELECT key FROM comboio_session")) == ["other", "s"]
    assert one("SELECT count(DISTINCT session) FROM comboio_message WHERE key IN ('b', 'c')") == 1


def test_counters_tell_what_was_received() -> None:
    with consuming(_ignore):
        send(delivery("k"), delivery("k"))
        send(delivery("k", {"other": 1}))
    found = rows(
        "SELECT name, label, sum(value) FROM comboio_rollup_delta GROUP BY 1, 2 ORDER BY 1, 2"
    )
    assert found == [
        ("duplicates", "concurrent", 1.0),
        ("received", "duplicate", 1.0),
        ("received", "mismatch", 1.0),
        ("received", "new", 1.0),
    ]
