"""Verdicts: the first message is never touched; an accepted second is a message of its own."""

from __future__ import annotations

import pytest

from monitor.domain import keys
from monitor.domain.errors import RefusedError
from monitor.operations import mismatches
from tests import factories
from tests.monitor.operations.scenes import version
from tests.people import CLARA, DORA
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db


def _accept(number: int) -> None:
    seen = version("comboio_mismatch", number)
    mismatches.accept_second(CLARA, number, seen=seen, reason="corrected")


def _keep(number: int) -> None:
    seen = version("comboio_mismatch", number)
    mismatches.keep_first(CLARA, number, seen=seen, reason="a typing error")


def test_keep_first_writes_the_verdict_down_and_stores_no_message() -> None:
    first = factories.message(factories.consumer(), state="done")
    _keep(factories.mismatch(first))
    assert rows("SELECT verdict, verdict_by, verdict_reason FROM comboio_mismatch") == [
        ("keep first", "clara", "a typing error")
    ]
    assert rows("SELECT id FROM comboio_message") == [(first,)]
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]


@pytest.mark.parametrize("state", ["ready", "done", "dead", "discarded", "waiting"])
def test_accept_second_leaves_the_first_as_it_is_whatever_its_state(state: str) -> None:
    first = factories.message(factories.consumer(), state=state, payload={"n": 1})
    before = rows("SELECT * FROM comboio_message_state NATURAL JOIN comboio_message")
    _accept(factories.mismatch(first, payload={"n": 2}))
    after = rows(
        "SELECT * FROM comboio_message_state NATURAL JOIN comboio_message WHERE id = %(id)s",
        id=first,
    )
    assert after == before


def test_the_second_is_a_message_at_the_end_of_the_session_under_a_key_of_its_own() -> None:
    owner = factories.consumer()
    first = factories.message(owner, key="k", session="s", state="dead", payload={"n": 1})
    follower = factories.message(owner, session="s")
    _accept(factories.mismatch(first, payload={"n": 2}, headers={"a": "b"}))
    fingerprint = one("SELECT fingerprint FROM comboio_mismatch")
    new = one("SELECT accepted_id FROM comboio_mismatch")
    assert new > follower
    key = f"k~{bytes(fingerprint).hex()[:12]}"
    columns = "key, session, lane, origin, payload, headers ->> 'a', sequence"
    first_place = one("SELECT session FROM comboio_message WHERE id = %(id)s", id=first)
    assert rows(f"SELECT {columns} FROM comboio_message WHERE id = %(id)s", id=new) == [
        (key, first_place, keys.lane(owner, first_place), "payments", b'{"n": 2}', "b", None)
    ]
    assert rows("SELECT id FROM comboio_ready ORDER BY id") == [(follower,), (new,)]
    known = rows(
        "SELECT message_id, fingerprint FROM comboio_dedup WHERE key = %(key)s",
        key=keys.dedup_key("payments", key),
    )
    assert known == [(new, bytes(fingerprint))]


def test_a_second_without_session_is_on_its_own() -> None:
    first = factories.message(factories.consumer(), session="", state="done")
    _accept(factories.mismatch(first))
    new = one("SELECT accepted_id FROM comboio_mismatch")
    assert rows("SELECT id, session FROM comboio_ready") == [(new, -new)]


def test_both_timelines_tell_of_each_other() -> None:
    first = factories.message(factories.consumer(), state="done")
    number = factories.mismatch(first)
    _accept(number)
    new = one("SELECT accepted_id FROM comboio_mismatch")
    assert rows("SELECT message_id, detail::text FROM comboio_event ORDER BY message_id") == [
        (first, f'{{"accepted": {new}, "mismatch": {number}}}'),
        (new, f'{{"first": {first}, "mismatch": {number}}}'),
    ]


def test_the_alert_stays_until_every_payload_of_the_key_has_its_verdict() -> None:
    first = factories.message(factories.consumer(), state="done")
    second, third = (factories.mismatch(first, payload={"n": n}) for n in (2, 3))
    _keep(third)
    assert rows("SELECT state, target FROM comboio_alert") == [("open", second)]
    _accept(second)
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]


def test_the_other_verdict_is_refused_after_the_first() -> None:
    number = factories.mismatch(factories.message(factories.consumer(), state="done"))
    seen = version("comboio_mismatch", number)
    _keep(number)
    with pytest.raises(RefusedError, match=r"decided \(keep first\) by clara"):
        mismatches.accept_second(DORA, number, seen=seen, reason="")
    assert one("SELECT count(*) FROM comboio_message") == 1


def test_a_sender_that_used_the_new_key_itself_is_told() -> None:
    owner = factories.consumer()
    number = factories.mismatch(factories.message(owner, key="k", state="done"))
    fingerprint = bytes(one("SELECT fingerprint FROM comboio_mismatch"))
    factories.message(owner, key=keys.second_key("k", fingerprint))
    with pytest.raises(RefusedError, match="exists already; keep the first"):
        _accept(number)
    assert one("SELECT count(*) FROM comboio_message") == 2


def test_a_second_whose_first_was_purged_is_refused_in_words() -> None:
    number = factories.mismatch(factories.message(factories.consumer(), state="done"))
    run("DELETE FROM comboio_message")
    with pytest.raises(RefusedError, match="not kept any more"):
        _accept(number)


def test_an_unknown_mismatch_is_refused() -> None:
    with pytest.raises(RefusedError, match="no mismatch 4711"):
        mismatches.keep_first(CLARA, 4711, seen=1, reason="")
