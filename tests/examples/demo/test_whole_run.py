"""A plan through the real inbox and engine, without HTTP: the figures must be the intended ones."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from django.db import connection

import examples.github.consumers
import examples.payments.consumers  # noqa: F401 - declares the consumers
from examples.demo import check, effects, outside, plan, run
from examples.demo.plan import Flaw, Plan, Planned, Shape
from examples.payments.models import LedgerEntry
from monitor.domain.message import Delivery
from monitor.engine import ingest
from monitor.engine.drain import drain
from monitor.engine.life import Life
from tests.examples.demo import plans
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def _delivery(planned: Planned) -> Delivery:
    body = json.loads(planned.body)
    is_payment = planned.source == "payments"
    return Delivery(
        source=planned.source,
        origin=planned.source,
        key=planned.key,
        type=planned.type,
        payload=planned.body.encode(),
        session=body["account"] if is_payment else "",
        sequence=body["sequence"] if is_payment else None,
    )


def _receive(part: Iterable[Planned]) -> None:
    ingest.receive([_delivery(each) for each in part if each.flaw is Flaw.NONE])


def _drain() -> None:
    life = Life()

    def is_drained() -> bool:
        drain(life, seconds=20)
        with connection.cursor() as cursor:
            return not check.unfinished(cursor, 0)

    wait_until(is_drained, seconds=30)
    life.end()


def _figures(planned: Plan) -> dict[str, int]:
    with connection.cursor() as cursor:
        seen = check.messages(cursor, planned.keys)
        figures = check.figures(planned, seen, effects.of_keys(planned.keys))
        keys = check.effect_keys(cursor, seen)
        alerts = check.alerts(cursor, seen)
        return figures | {"alerts": alerts} | outside.figures(keys, outside.charged())


@pytest.mark.usefixtures("provider")
def test_a_plan_comes_out_as_intended_twice_on_the_same_database() -> None:
    for name in ("one", "two"):
        planned = plans.small(run=name, charges=60)
        _receive(each for each in planned.deliveries if each.shape is not Shape.LATE)
        _drain()
        _receive(each for each in planned.deliveries if each.shape is Shape.LATE)
        _drain()
        figures = _figures(planned)
        intended = plan.intended(planned)
        assert (intended["in_doubt"], intended["effects_external"]) == (2, 60)
        told_by_answers = {"deliveries", "refused"}
        assert {n: figures[n] for n in set(intended) - told_by_answers} == {
            n: intended[n] for n in set(intended) - told_by_answers
        }
        assert [figures[name] for name in run.FAULTS] == [0, 0, 0, 0]


def test_the_faults_are_found_in_the_tables_themselves() -> None:
    planned = plans.small(count=60)
    _receive(each for each in planned.deliveries if each.shape is not Shape.LATE)
    _drain()
    rows = list(LedgerEntry.objects.filter(amount_cents__gt=0).order_by("id"))
    rows[0].delete()
    twin, rows[1].pk = rows[1].pk, None
    rows[1].save()
    assert twin != rows[1].pk
    figures = _figures(planned)
    assert figures["lost"] == 1
    assert figures["doubles"] == 1
    assert figures["order_violations"] >= 1
