"""Small plans for the tests of the demo."""

from __future__ import annotations

from random import Random

from examples.demo import charges_set, github_set, payments_set
from examples.demo.check import Seen
from examples.demo.effects import Effect
from examples.demo.github_set import Webhook
from examples.demo.plan import Fate, Plan

ISSUE = Webhook(
    event="issues",
    number=0,
    payload={
        "action": "opened",
        "issue": {
            "number": 7,
            "title": "It breaks",
            "state": "open",
            "labels": [],
            "assignees": [],
        },
        "repository": {"full_name": "octocat/hello"},
        "sender": {"login": "mona"},
    },
)
PUSH = Webhook(
    event="push",
    number=0,
    payload={"repository": {"full_name": "octocat/hello"}, "sender": {"login": "mona"}},
)
TEAM = Webhook(
    event="team",
    number=0,
    payload={"action": "created", "organization": {"login": "octocats"}},
)
HOOKS = [ISSUE, PUSH, TEAM]


def small(seed: int = 1, *, run: str = "t", count: int = 400, charges: int = 0) -> Plan:
    """A plan of 400 payments, three webhooks and, where asked for, charges."""
    random = Random(seed)
    payments = payments_set.payments(random, run=run, count=count, accounts=20)
    github = github_set.deliveries(random, HOOKS, run=run, changes=1)
    charged = charges_set.deliveries(run=run, count=charges)
    return Plan(run=run, seed=seed, deliveries=(*payments, *github, *charged))


def faultless(plan: Plan) -> tuple[list[Seen], list[Effect]]:
    """What the database holds after a faultless run: messages and effects, in order."""
    state_of = {Fate.DONE: "done", Fate.PARKED: "parked", Fate.IN_DOUBT: "in doubt"}
    seen = [
        Seen(
            id=n,
            consumer=route.consumer,
            key=key,
            session=route.session,
            duplicates=0,
            mismatches=0,
            state=state_of.get(route.fate, "dead"),
        )
        for n, (key, route) in enumerate(plan.routes)
    ]
    effects = [
        Effect(consumer=route.consumer, key=key, text=route.effect)
        for key, route in plan.routes
        if route.fate is Fate.DONE
    ]
    return seen, effects
