"""Two people at once, a person and a delivery, a person and a worker: exactly one wins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from monitor.domain.actor import Actor
from monitor.domain.errors import RefusedError
from monitor.domain.states import Verdict
from monitor.engine import ingest
from monitor.operations import Done, messages, mismatches
from tests import factories
from tests.engine import consuming, delivery, drain_all, send
from tests.monitor.operations import effect_scenes, scenes
from tests.monitor.operations.scenes import Scene, version
from tests.people import ANNA, BERT, CLARA, DORA
from tests.racing import race
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)


def _winner(outcomes: list[Any], names: tuple[str, ...]) -> str:
    """The name of the one who won; the other was refused in a sentence that names the winner."""
    done = [each for each in outcomes if isinstance(each, Done)]
    refused = [each for each in outcomes if isinstance(each, RefusedError)]
    assert (len(done), len(refused)) == (1, len(outcomes) - 1), outcomes
    winner = names[outcomes.index(done[0])]
    assert f"by {winner} at" in str(refused[0]), refused
    return winner


def _rounds(make: Callable[[], Scene], number: int) -> Iterator[Scene]:
    return (make() for _ in range(number))


def _auditors(scene: Scene) -> list[tuple[str]]:
    statement = "SELECT actor FROM comboio_audit WHERE object_kind = %(k)s AND object_id = %(id)s"
    return rows(statement, k=scene.target[0], id=scene.target[1])  # type: ignore[return-value]


def test_of_two_operators_who_requeue_at_once_one_wins_each_of_50_rounds() -> None:
    for scene in _rounds(scenes.requeue, 50):
        outcomes = race(lambda: scene.use(ANNA), lambda: scene.use(BERT))  # noqa: B023
        winner = _winner(outcomes, ("anna", "bert"))
        assert _auditors(scene) == [(winner,)]
        number = scene.message
        assert one("SELECT count(*) FROM comboio_ready WHERE id = %(id)s", id=number) == 1
        told = rows("SELECT actor FROM comboio_event WHERE message_id = %(id)s", id=number)
        assert told == [(winner,)]


@pytest.mark.parametrize(
    "make", scenes.SCENES + effect_scenes.SCENES, ids=lambda make: make.__name__
)
def test_of_two_people_who_click_at_once_one_wins(make: Callable[[], Scene]) -> None:
    for scene in _rounds(make, 5):
        outcomes = race(lambda: scene.use(CLARA), lambda: scene.use(DORA))  # noqa: B023
        winner = _winner(outcomes, ("clara", "dora"))
        assert _auditors(scene) == [(winner,)]


def test_requeue_against_discard_leaves_the_message_in_one_place() -> None:
    for scene in _rounds(scenes.requeue, 20):
        number = scene.target[1]
        seen = version("comboio_dead", number)
        outcomes = race(
            lambda: scene.use(CLARA),  # noqa: B023
            lambda: messages.discard(DORA, number, seen=seen),  # noqa: B023
        )
        winner = _winner(outcomes, ("clara", "dora"))
        state = one("SELECT state FROM comboio_message_state WHERE id = %(id)s", id=number)
        assert state == {"clara": "ready", "dora": "discarded"}[winner]
        places = "comboio_ready", "comboio_dead", "comboio_discarded", "comboio_done"
        counts = [one(f"SELECT count(*) FROM {t} WHERE id = %(id)s", id=number) for t in places]
        assert sum(counts) == 1


def test_keep_first_against_accept_second_gives_one_verdict() -> None:
    for scene in _rounds(scenes.keep_first, 20):
        number = scene.target[1]
        seen = version("comboio_mismatch", number)
        outcomes = race(
            lambda: scene.use(CLARA),  # noqa: B023
            lambda: mismatches.accept_second(DORA, number, seen=seen, reason=""),  # noqa: B023
        )
        winner = _winner(outcomes, ("clara", "dora"))
        new = one("SELECT accepted_id FROM comboio_mismatch WHERE id = %(id)s", id=number)
        assert (new is not None) == (winner == "dora")
        ready = one("SELECT count(*) FROM comboio_ready WHERE id = %(id)s", id=new)
        assert ready == (winner == "dora")
    assert rows("SELECT DISTINCT state FROM comboio_alert") == [("resolved",)]


def test_a_twin_that_comes_in_during_requeue_is_a_duplicate_in_each_of_20_rounds() -> None:
    ran: list[str] = []

    def handle(_payload: object, message: object) -> None:
        if not run_again:
            raise ValueError("poison")
        ran.append(message.key)  # type: ignore[attr-defined]

    for number_of_round in range(20):
        run_again = False
        key = f"k{number_of_round}"
        with consuming(handle):
            send(delivery(key, session="s"))
            while not one("SELECT count(*) FROM comboio_dead"):
                drain_all()
            number = one("SELECT id FROM comboio_dead")
            seen = version("comboio_dead", number)
            done, receipts = race(
                lambda: messages.requeue(ANNA, number, seen=seen),  # noqa: B023
                lambda: ingest.receive([delivery(key, session="s")]),  # noqa: B023
            )
            run_again = True
            drain_all()
        assert done.count == 1
        assert receipts[0][0].verdict is Verdict.DUPLICATE
        assert ran == [key]
        ran.clear()


def test_two_bulk_requeues_share_the_work_and_count_each_message_once() -> None:
    owner = factories.consumer()
    for n in range(60):
        factories.message(owner, state="dead", session=f"s{n}", cause="poison: x")
    newest = one("SELECT max(version) FROM comboio_dead")

    def requeue(actor: Actor) -> Done:
        return messages.requeue_cause(actor, "poison: x", up_to_version=newest)

    outcomes = race(lambda: requeue(ANNA), lambda: requeue(BERT))
    counts = [each.count for each in outcomes if isinstance(each, Done)]
    assert sum(counts) == 60, outcomes
    assert one("SELECT count(*) FROM comboio_ready") == 60
    assert one("SELECT count(*) FROM comboio_audit WHERE verb = 'requeue'") == 60


def test_a_bulk_requeue_beside_a_busy_worker_runs_each_message_once_and_in_order() -> None:
    ran: list[tuple[str, int]] = []
    is_mended = False

    def handle(payload: Any, message: Any) -> None:
        if payload["bad"] and not is_mended:
            raise ValueError("poison")
        run("SELECT 1")
        ran.append((message.session, message.id))

    sessions = [f"s{n}" for n in range(20)]
    with consuming(handle, when_dead="hold"):
        send(*(delivery(f"{s}-0", {"bad": True}, session=s) for s in sessions))
        while one("SELECT count(*) FROM comboio_dead") < len(sessions):
            drain_all()
        for n in (1, 2, 3):
            send(*(delivery(f"{s}-{n}", {"bad": False}, session=s) for s in sessions))
        cause = one("SELECT DISTINCT cause FROM comboio_dead")
        newest = one("SELECT max(version) FROM comboio_dead")
        is_mended = True
        done, moved = race(
            lambda: messages.requeue_cause(ANNA, cause, up_to_version=newest), drain_all
        )
        assert isinstance(moved, int), moved
        drain_all()
    assert done.count == len(sessions), done
    assert len(ran) == len(set(ran)) == 4 * len(sessions)
    for session in sessions:
        ids = [number for name, number in ran if name == session]
        assert ids == sorted(ids)
