"""What runs next after a verb: said before it is used, and then done by the engine's rules."""

from __future__ import annotations

import pytest
from django.db import connection

from monitor.domain.actor import SYSTEM
from monitor.operations import messages, skipping
from monitor.reports import preview
from monitor.reports.preview import Preview
from tests import factories, factory_order
from tests.factory_order import session_of
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def _numbers(found: Preview | None) -> list[int | None]:
    assert found is not None
    return [each.number for each in found.next]


def _gap(*numbers: int) -> tuple[int, int, list[int]]:
    """A session that expects 4 and has these numbers: (consumer, session, ids)."""
    owner = factory_order.numbered()
    ids = [factory_order.message(owner, number) for number in numbers]
    session = session_of(ids[0])
    factory_order.gap(session, missing=4, before=min(numbers))
    return owner, session, ids


def test_a_skipped_gap_gives_up_its_numbers_and_runs_to_the_next_gap() -> None:
    owner, session, ids = _gap(7, 6, 9)
    found = preview.of_session(session, owner).skip_gap
    assert found is not None
    assert found.given_up == (4, 5)
    assert _numbers(found) == [6, 7]
    assert [each.id for each in found.next] == [ids[1], ids[0]]
    assert found.gap == (8, 9)
    assert found.stops == ()


def test_a_number_that_is_only_delayed_is_named_before_it_is_given_up() -> None:
    owner, session, _ids = _gap(6, 7)
    there = factory_order.message(owner, 5)
    factory_order.delay(there)
    found = preview.of_session(session, owner).skip_gap
    assert found is not None
    assert [(each.id, each.number) for each in found.delayed] == [(there, 5)]


def test_what_was_put_back_runs_first_and_five_are_named() -> None:
    owner, session, _ids = _gap(6, 7, 8, 9, 10, 11)
    back = factory_order.message(owner, 2)
    run("UPDATE comboio_ready SET sequence = 2 - 9223372036854775807 - 1 WHERE id = %(i)s", i=back)
    found = preview.of_session(session, owner).skip_gap
    assert _numbers(found) == [2, 6, 7, 8, 9]
    assert found is not None
    assert (found.more, found.gap) == (True, None)


@pytest.mark.parametrize("kind", ["held", "dead head", "in doubt", "consumer held"])
def test_what_still_stops_the_session_after_the_gap_is_skipped_is_named(kind: str) -> None:
    owner, session, ids = _gap(6)
    other = factory_order.message(owner, 3, state="done")
    if kind == "held":
        factories.gate(session, held_by="bert")
    if kind == "dead head":
        factories.gate(session, dead_message=other)
    if kind == "in doubt":
        run(
            "INSERT INTO comboio_in_doubt (id, consumer, lane, session, effect_id, attempts)"
            " SELECT id, consumer, lane, session, 1, 1 FROM comboio_message WHERE id = %(i)s",
            i=other,
        )
    if kind == "consumer held":
        run("UPDATE comboio_consumer SET held = true WHERE id = %(i)s", i=owner)
    found = preview.of_session(session, owner).skip_gap
    assert found is not None
    assert [each.kind for each in found.stops] == [kind]
    assert [each.id for each in found.next] == ids


def test_without_a_gap_there_is_nothing_to_skip() -> None:
    owner = factory_order.numbered()
    session = session_of(factory_order.message(owner, 1))
    found = preview.of_session(session, owner)
    assert (found.skip_gap, found.skip_head, found.requeue_head) == (None, None, None)


def test_skipping_a_dead_head_runs_its_followers_by_id_without_numbers() -> None:
    owner = factories.consumer(when_dead="hold")
    dead = factories.message(owner, state="dead", holds=True)
    ids = [factories.message(owner) for _ in range(2)]
    found = preview.of_session(session_of(dead), owner)
    assert found.skip_head is not None
    assert found.skip_head.without == dead
    assert [each.id for each in found.skip_head.next] == ids
    assert found.requeue_head is not None
    assert [each.id for each in found.requeue_head.next] == [dead, *ids]
    assert not found.requeue_head.is_late


def test_skipping_a_head_that_waits_for_its_retry_goes_on_with_the_next_number() -> None:
    owner = factory_order.numbered()
    ids = [factory_order.message(owner, number) for number in (1, 2, 3)]
    session = session_of(ids[0])
    factories.gate(session, retry_of=ids[0])
    found = preview.of_session(session, owner).skip_head
    assert found is not None
    assert (found.without, _numbers(found), found.stops) == (ids[0], [2, 3], ())


def test_what_comes_behind_its_number_is_told_as_stale() -> None:
    owner, session, _ids = _gap(6)
    run("UPDATE comboio_message SET is_last = true WHERE sequence = 6")
    factory_order.message(owner, 7)
    found = preview.of_session(session, owner).skip_gap
    assert found is not None
    assert (_numbers(found), found.stale) == ([6], 1)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_requeued_message_runs_late_when_followers_are_done(numbered: bool) -> None:
    owner = factory_order.numbered() if numbered else factories.consumer()
    dead = factory_order.message(owner, 1, state="dead")
    factory_order.message(owner, 2, state="done")
    follower = factory_order.message(owner, 3)
    if numbered:
        factory_order.progress(session_of(dead), expects=3)
    else:
        run("UPDATE comboio_ready SET sequence = NULL")
    found = preview.of_requeue(dead, session_of(dead), owner)
    assert found is not None
    assert found.is_late
    assert [each.id for each in found.next] == [dead, follower]


def test_a_message_of_no_session_runs_alone() -> None:
    owner = factories.consumer()
    dead = factories.message(owner, state="dead", session="")
    found = preview.of_requeue(dead, None, owner)
    assert found is not None
    assert [each.id for each in found.next] == [dead]
    assert preview.of_requeue(10**12, None, owner) is None


@pytest.mark.django_db(transaction=True)
def test_what_was_told_is_what_stands_in_the_queue_after_the_verbs() -> None:
    owner, session, ids = _gap(6, 7)
    dead = factory_order.message(owner, 3, state="dead")
    told = preview.of_session(session, owner).skip_gap
    skipping.skip_gap(SYSTEM, session, seen=4, reason="lost at the sender")
    assert told is not None
    assert told.given_up == (4, one("SELECT next - 1 FROM comboio_sequence"))
    again = preview.of_requeue(dead, session, owner)
    version = one("SELECT version FROM comboio_dead WHERE id = %(i)s", i=dead)
    messages.requeue(SYSTEM, dead, seen=version)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM comboio_ready ORDER BY lane, session, sequence, id")
        queue = [row[0] for row in cursor.fetchall()]
    assert again is not None
    assert [each.id for each in again.next] == queue == [dead, *ids]
