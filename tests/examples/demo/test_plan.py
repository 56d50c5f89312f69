from __future__ import annotations

import json
from pathlib import Path

import pytest

from examples.demo import plan
from examples.demo.plan import Fate, Role
from tests.examples.demo import plans


@pytest.mark.parametrize("seed", range(5))
def test_the_intended_figures_add_up(seed: int) -> None:
    planned = plans.small(seed, charges=60)
    figures = plan.intended(planned)
    assert sum(figures[n] for n in ("done", "dead", "parked", "in_doubt")) == figures["accepted"]
    assert figures["effects"] == figures["done"]
    roles = [each.role for each in planned.deliveries]
    assert figures["deliveries"] == len(roles)
    assert figures["refused"] == roles.count(Role.REFUSED) > 0
    # One message for each consumer that takes a delivery.
    judged = figures["accepted"] + figures["duplicates"] + figures["mismatches"]
    assert judged == sum(len(each.routes) for each in planned.deliveries)


def test_every_cause_of_death_held_account_and_changed_message_raises_one_alert() -> None:
    planned = plans.small()
    dead = [r for _, r in planned.routes if r.fate in (Fate.DEAD, Fate.HOLDING)]
    held = [route for route in dead if route.fate is Fate.HOLDING]
    changed = [r for d in planned.deliveries if d.role is Role.CHANGED for r in d.routes]
    causes = {(route.consumer, route.cause) for route in dead}
    assert len(causes) == 4
    assert plan.intended(planned)["alerts"] == len(causes) + len(held) + len(changed)


def test_a_plan_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    planned = plans.small(charges=60)
    plan.write(planned, tmp_path / "plan.jsonl")
    assert plan.read(tmp_path / "plan.jsonl") == planned


def test_the_file_leads_with_the_run_and_its_intended_figures(tmp_path: Path) -> None:
    planned = plans.small()
    plan.write(planned, tmp_path / "plan.jsonl")
    lines = (tmp_path / "plan.jsonl").read_text(encoding="utf-8").splitlines()
    head = json.loads(lines[0])
    assert head == {"run": "t", "seed": 1, "intended": plan.intended(planned)}
    assert len(lines) == 1 + len(planned.deliveries)
