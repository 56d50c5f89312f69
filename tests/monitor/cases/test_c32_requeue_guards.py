"""C32: what requeue must not do: run twice, hide a refusal, block others."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from monitor.domain.errors import RefusedError
from monitor.domain.states import Verdict
from monitor.operations import Done, messages
from tests import factories
from tests.dashboard import looking
from tests.dashboard.conftest import user
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.people import ANNA, BERT, CLARA
from tests.racing import race
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_new_delivery_of_a_dead_key_is_its_duplicate_so_requeue_meets_no_twin() -> None:
    def fail(_payload: object, _message: object) -> None:
        raise ValueError("poison")

    with consuming(fail):
        send(delivery("m1"))
        while not one("SELECT count(*) FROM comboio_dead"):
            drain_all()
        ((twin,),) = send(delivery("m1"))
        assert (twin.verdict, twin.state) == (Verdict.DUPLICATE, "dead")
        number = one("SELECT id FROM comboio_dead")
        messages.requeue(ANNA, number, seen=version("comboio_dead", number))
    assert rows("SELECT id FROM comboio_ready") == [(number,)]


def test_a_double_click_requeues_once_and_the_second_says_who_did_it() -> None:
    number = factories.message(factories.consumer(), state="dead")
    seen = version("comboio_dead", number)
    outcomes: list[Any] = race(*[lambda: messages.requeue(ANNA, number, seen=seen)] * 3)
    assert sum(isinstance(each, Done) for each in outcomes) == 1
    refused = [str(each) for each in outcomes if isinstance(each, RefusedError)]
    assert len(refused) == 2
    assert all(f"Message {number} was requeued by anna at" in each for each in refused)
    assert rows("SELECT id FROM comboio_ready") == [(number,)]


def test_of_two_operators_at_once_one_requeues_and_the_other_reads_who() -> None:
    number = factories.message(factories.consumer(), state="dead")
    seen = version("comboio_dead", number)
    both = (ANNA, BERT)
    outcomes = race(*[lambda who=who: messages.requeue(who, number, seen=seen) for who in both])
    (refused,) = [str(each) for each in outcomes if isinstance(each, RefusedError)]
    (winner,) = [who for who, each in zip(both, outcomes, strict=True) if isinstance(each, Done)]
    assert f"was requeued by {winner.name} at" in refused
    assert rows("SELECT actor, verb FROM comboio_audit") == [(winner.name, "requeue")]


def test_a_done_message_is_not_requeued_by_a_crafted_request() -> None:
    number = factories.message(factories.consumer(), state="done")
    for seen in (0, 1, 2**62):
        with pytest.raises(RefusedError, match="is done now"):
            messages.requeue(ANNA, number, seen=seen)
    assert one("SELECT state FROM comboio_message_state") == "done"


def test_a_crafted_post_for_a_done_message_is_a_notice_and_runs_nothing() -> None:
    runs: list[str] = []
    with consuming(lambda _, message: runs.append(message.key)):
        send(delivery("k"))
        drain_all()
        number = one("SELECT id FROM comboio_done")
        olga = _operator()
        before = looking.everything()
        for seen in ("1", str(number), str(2**62)):
            answer = olga.post(f"/dead-letters/{number}/requeue/", {"seen": seen, "next": "/"})
            assert answer.status_code == 409
            assert "is done now" in answer.content.decode()
        assert looking.everything() == before
        drain_all()
    assert runs == ["k"]


def test_of_ten_ticked_rows_with_one_conflict_nine_go_and_the_tenth_is_told_with_its_cause() -> (
    None
):
    owner, other = factories.consumer(), factories.consumer()
    numbers = [factories.message(owner, state="dead", session=f"s{n}") for n in range(10)]
    elsewhere = factories.message(other, state="dead", session="other")
    olga, picked = _operator(), [f"{n}:{version('comboio_dead', n)}" for n in numbers]
    messages.requeue(BERT, numbers[3], seen=version("comboio_dead", numbers[3]))
    html = olga.post(
        "/dead-letters/requeue/", {"pick": picked}, headers=looking.SCRIPTED
    ).content.decode()
    assert "9 messages requeued. 1 was refused: " in html
    assert f"Message {numbers[3]} was requeued by bert at" in html
    assert sorted(row[0] for row in rows("SELECT id FROM comboio_ready")) == numbers
    # The page, read again, is what the database holds: only the other consumer's is left.
    assert _listed(olga) == [elsewhere]


def _operator() -> Client:
    client = Client()
    client.force_login(user("olga", "operator"))
    return client


def _listed(client: Client) -> list[int]:
    html = client.get("/dead-letters/").content.decode()
    return [int(found) for found in re.findall(r'name="pick"[^>]*value="(\d+):', html)]


def test_of_ten_with_one_conflict_nine_go_and_the_page_hears_of_the_tenth() -> None:
    owner = factories.consumer()
    numbers = [
        factories.message(owner, state="dead", session=f"s{n}", cause="poison: x")
        for n in range(10)
    ]
    newest = one("SELECT max(version) FROM comboio_dead")
    seen = version("comboio_dead", numbers[3])
    # A colleague requeued one and it died again: a newer death than the page showed.
    messages.requeue(BERT, numbers[3], seen=seen)
    _bury_again(numbers[3])
    other = factories.message(owner, state="dead", session="other", cause="poison: y")
    done = messages.requeue_cause(CLARA, "poison: x", up_to_version=newest)
    assert done.count == 9
    assert [row[0] for row in rows("SELECT id FROM comboio_dead ORDER BY id")] == [
        numbers[3],
        other,
    ]


def _bury_again(number: int) -> None:
    assert rows("DELETE FROM comboio_ready WHERE id = %(id)s RETURNING id", id=number)
    factories.bury(number, reason="poison", error="ValueError: again", cause="poison: x")
