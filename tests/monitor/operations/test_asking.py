"""Asking about many at once: every answer counts alone, and the sentence counts them all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.domain.errors import PermissionRefusedError, RefusedError, RepeatedClickError
from monitor.engine import registry
from monitor.operations import asking
from tests import factories, factory_effects
from tests.people import ANNA, VIEWER
from tests.rows import one, rows, run
from tests.watching import watched_for

pytestmark = pytest.mark.django_db(transaction=True)


def _never(_call: object) -> None:
    raise AssertionError("nothing is called here")


@contextmanager
def _shop(answers: dict[str, Evidence], name: str = "shop.charge") -> Iterator[int]:
    """A consumer whose provider answers by the amount that was asked for."""

    def probe(call: Call) -> Evidence:
        return answers[str(call.request["what"])]

    owner = factories.consumer(name=name)
    effect = Effect(name="charge", call=_never, kind="queryable", reconcile=probe)
    registry.add(Consumer(name=name, source=name, handler=_never, external=True, effects=(effect,)))
    try:
        yield owner
    finally:
        registry.remove(name)


ANSWERS = {
    "done": Evidence(told=Told.DONE, result={"id": 1}, reference="ch_1"),
    "not": Evidence(told=Told.NOT_DONE),
    "no": Evidence(told=Told.REFUSED, detail={"reason": "card"}),
    "?": Evidence(told=Told.CANNOT_TELL),
}


def _doubts(owner: int, *whats: str) -> None:
    for n, what in enumerate(whats):
        _message, effect = factory_effects.in_doubt(owner, key=f"{owner}-{n}", session=f"s{n}")
        run(
            "UPDATE comboio_effect SET request = %(request)s WHERE id = %(id)s",
            request=json.dumps({"what": what}),
            id=effect,
        )


def test_each_answer_settles_its_own_effect_and_the_sentence_counts_them() -> None:
    with _shop(ANSWERS) as owner, watched_for(60):
        _doubts(owner, "done", "done", "not", "no", "?")
        done = asking.reconcile_many(ANNA)
    assert done.text == (
        "Asked about 5 effects: 2 happened, 1 did not and is called again, 1 was refused, "
        "of 1 the provider cannot tell."
    )
    assert done.count == 4
    states = rows("SELECT state, count(*) FROM comboio_effect GROUP BY 1 ORDER BY 1")
    assert states == [("completed", 2), ("failed", 1), ("in doubt", 1), ("in progress", 1)]
    assert one("SELECT count(*) FROM comboio_ready") == 4
    assert one("SELECT count(*) FROM comboio_audit WHERE verb = 'reconcile'") == 5


def test_only_those_of_the_consumer_are_asked_about() -> None:
    with _shop(ANSWERS) as owner, _shop(ANSWERS, "shop.mail") as other:
        _doubts(owner, "done")
        _doubts(other, "done")
        assert asking.reconcile_many(ANNA, owner).count == 1
        assert one("SELECT count(*) FROM comboio_in_doubt") == 1


def test_one_that_is_busy_keeps_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = asking.verdict.settle

    def settle_but_the_first(
        cursor: object, effect: int, *given: object, **named: object
    ) -> object:
        if effect == one("SELECT min(id) FROM comboio_effect"):
            raise asking.BusyError("held")
        return settle(cursor, effect, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(asking.verdict, "settle", settle_but_the_first)
    with _shop(ANSWERS) as owner:
        _doubts(owner, "done", "done")
        assert "1 happened, 1 are busy, ask again." in asking.reconcile_many(ANNA).text


def test_what_cannot_be_asked_or_contradicts_is_left_to_people() -> None:
    with _shop(ANSWERS) as owner:
        _doubts(owner, "done")
        factory_effects.in_doubt(factories.consumer(name="fax"), key="fax", kind="neither")
        _message, effect = factory_effects.in_doubt(owner, key="conflict")
        run("UPDATE comboio_effect SET conflict = 'says otherwise' WHERE id = %(id)s", id=effect)
        assert asking.reconcile_many(ANNA).count == 1
        with pytest.raises(RefusedError, match="can be asked"):
            asking.reconcile_many(ANNA)


def test_a_second_click_asks_nobody_and_a_viewer_may_not() -> None:
    with _shop(ANSWERS) as owner:
        _doubts(owner, "?")
        actor = replace(ANNA, click=uuid4())
        asking.reconcile_many(actor)
        with pytest.raises(RepeatedClickError):
            asking.reconcile_many(actor)
        with pytest.raises(PermissionRefusedError):
            asking.reconcile_many(VIEWER)
    assert one("SELECT count(*) FROM comboio_evidence WHERE source = 'probe'") == 1
