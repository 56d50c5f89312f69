"""Two people, or a person and a sender, decide about the same thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from monitor.domain.actor import Actor, Permission
from monitor.domain.errors import RefusedError
from monitor.domain.states import Verdict
from monitor.engine import ingest
from monitor.operations import Done, effects, messages, mismatches
from tests import factories, factory_effects
from tests.engine import consuming, delivery, send
from tests.interleaving.explorer import Explored, Pair
from tests.interleaving.world import audited, book, booked, owner, settle, states, version
from tests.rows import one, rows

Explore = Callable[..., Explored]
ANNA = Actor(name="anna", permissions=frozenset(Permission))
BERT = Actor(name="bert", permissions=frozenset(Permission))


def _winner(*outcomes: Any) -> int:
    """Whose verb was carried out; the other one was refused."""
    (place,) = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Done)]
    (refused,) = [each for each in outcomes if each is not outcomes[place]]
    assert isinstance(refused, RefusedError)
    return place


def _dead(consumer: int, *, holds: bool) -> tuple[int, int]:
    number = factories.message(consumer, state="dead", key="k", session="s", holds=holds)
    return number, version("comboio_dead", number)


@pytest.mark.parametrize("policy", ["hold", "skip"])
def test_of_two_requeues_one_moves_the_message(explore: Explore, policy: Any) -> None:
    def check(_dead: object, *outcomes: Any) -> None:
        winner = _winner(*outcomes)
        assert audited() == [("requeue", ("anna", "bert")[winner])]
        assert one("SELECT count(*) FROM comboio_event WHERE kind = 'requeue'") == 1
        assert one("SELECT count(*) FROM comboio_alert WHERE state <> 'resolved'") == 0
        settle()
        assert booked() == ["k"]

    with consuming(book, when_dead=policy):
        number = owner()
        explore(
            Pair(
                prepare=lambda: _dead(number, holds=policy == "hold"),
                actors=(
                    lambda dead: messages.requeue(ANNA, dead[0], seen=dead[1]),
                    lambda dead: messages.requeue(BERT, dead[0], seen=dead[1]),
                ),
                check=check,
            )
        )


def test_a_requeue_and_a_discard_do_not_both_happen(explore: Explore) -> None:
    def check(_dead: object, *outcomes: Any) -> None:
        is_discarded = _winner(*outcomes) == 1
        assert audited() == [("discard", "bert") if is_discarded else ("requeue", "anna")]
        settle()
        assert booked() == ([] if is_discarded else ["k"])
        assert states()["discarded" if is_discarded else "done"] == 1
        assert one("SELECT count(*) FROM comboio_gate") == 0
        assert one("SELECT count(*) FROM comboio_alert WHERE state <> 'resolved'") == 0

    with consuming(book, when_dead="hold"):
        number = owner()
        explore(
            Pair(
                prepare=lambda: _dead(number, holds=True),
                actors=(
                    lambda dead: messages.requeue(ANNA, dead[0], seen=dead[1]),
                    lambda dead: messages.discard(BERT, dead[0], seen=dead[1]),
                ),
                check=check,
            )
        )


def test_of_two_decisions_on_an_effect_the_first_stands(explore: Explore) -> None:
    def prepare() -> tuple[int, int]:
        _, effect = factory_effects.in_doubt(factories.consumer())
        return effect, version("comboio_effect", effect)

    def check(_effect: object, *outcomes: Any) -> None:
        is_done = _winner(*outcomes) == 0
        assert audited() == [("mark done", "anna") if is_done else ("mark not done", "bert")]
        state, by, conflict = rows("SELECT state, decided_by, conflict FROM comboio_effect")[0]
        assert (state, by) == (("completed", "anna") if is_done else ("in progress", "bert"))
        assert conflict == ""
        people = "SELECT actor FROM comboio_evidence WHERE source = 'person'"
        assert rows(people) == [("anna" if is_done else "bert",)]
        assert states() == {"ready": 1, "in_doubt": 0, "done": 0, "dead": 0, "discarded": 0}

    explore(
        Pair(
            prepare=prepare,
            actors=(
                lambda effect: effects.mark_done(
                    ANNA, effect[0], seen=effect[1], reference="ch_1", reason="seen there"
                ),
                lambda effect: effects.mark_not_done(
                    BERT, effect[0], seen=effect[1], reason="asked by telephone"
                ),
            ),
            check=check,
        )
    )


def _mismatched() -> tuple[int, int]:
    send(delivery("k", {"n": 1}, session="s"))
    send(delivery("k", {"n": 2}, session="s"))
    number = int(one("SELECT id FROM comboio_mismatch"))
    return number, version("comboio_mismatch", number)


def test_a_second_that_is_accepted_while_it_comes_again_runs_once(explore: Explore) -> None:
    again = delivery("k", {"n": 2}, session="s")

    def check(_mismatch: object, accepted: Any, received: Any) -> None:
        assert isinstance(accepted, Done)
        second = one("SELECT accepted_id FROM comboio_mismatch")
        ((receipt,),) = received
        counted = one("SELECT duplicates FROM comboio_dedup WHERE message_id = %(m)s", m=second)
        if receipt.verdict is Verdict.DUPLICATE:
            assert (receipt.message_id, counted) == (second, 1)
        else:
            assert (receipt.verdict, counted) == (Verdict.MISMATCH, 0)
        assert one("SELECT count(*) FROM comboio_alert WHERE state <> 'resolved'") == 0
        ((late,),) = send(again)
        assert (late.verdict, late.message_id) == (Verdict.DUPLICATE, second)
        assert states()["ready"] == 2
        settle()
        assert len(booked()) == 2

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=_mismatched,
                actors=(
                    lambda found: mismatches.accept_second(
                        ANNA, found[0], seen=found[1], reason="corrected"
                    ),
                    lambda _: ingest.receive([again]),
                ),
                check=check,
            )
        )


def test_of_two_verdicts_on_a_mismatch_one_stands(explore: Explore) -> None:
    def check(_mismatch: object, *outcomes: Any) -> None:
        is_accepted = _winner(*outcomes) == 0
        assert audited() == [("accept second", "anna") if is_accepted else ("keep first", "bert")]
        settle()
        assert len(booked()) == (2 if is_accepted else 1)

    with consuming(book):
        owner()
        explore(
            Pair(
                prepare=_mismatched,
                actors=(
                    lambda found: mismatches.accept_second(
                        ANNA, found[0], seen=found[1], reason="corrected"
                    ),
                    lambda found: mismatches.keep_first(
                        BERT, found[0], seen=found[1], reason="a typing error"
                    ),
                ),
                check=check,
            )
        )
