"""C32: what requeue must not do: run twice, hide a refusal, block others."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.domain.errors import RefusedError
from monitor.domain.states import Verdict
from monitor.operations import Done, messages
from tests import factories
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


def test_a_done_message_is_not_requeued_by_a_crafted_request() -> None:
    number = factories.message(factories.consumer(), state="done")
    for seen in (0, 1, 2**62):
        with pytest.raises(RefusedError, match="is done now"):
            messages.requeue(ANNA, number, seen=seen)
    assert one("SELECT state FROM comboio_message_state") == "done"


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
