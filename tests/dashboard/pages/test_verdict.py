"""The first 300 characters of the Overview say what, why, since when, what to press: it mends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.test import Client

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.engine import registry
from tests import factories, factory_effects, factory_figures, factory_order
from tests.dashboard import looking
from tests.rows import one, run

pytestmark = pytest.mark.django_db
NAME = "shop.charge"
START = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is wrong, the cause that the page names, the button, and what is typed in."""

    make: Callable[[int], object]
    cause: str
    button: str
    typed: dict[str, str]


def _dead_head(owner: int) -> None:
    factories.message(
        owner, state="dead", session="acc-1", holds=True, error="ValueError: no such account"
    )
    factories.message(owner, session="acc-1")


def _dead(count: int) -> Callable[[int], None]:
    def make(owner: int) -> None:
        for n in range(count):
            factories.message(
                owner,
                state="dead",
                session=f"s{n}",
                cause="poison: x",
                error="KeyError: 'tax_id'",
            )

    return make


def _held_session(owner: int) -> None:
    factories.message(owner, session="acc-1")
    session = one("SELECT id FROM comboio_session WHERE key = 'acc-1'")
    factories.gate(session, held_by="bert")


def _held_consumer(owner: int) -> None:
    run(
        "UPDATE comboio_consumer SET held = true, held_at = now() - interval '5 minutes',"
        " held_by = 'bert', held_reason = 'maintenance' WHERE id = %(id)s",
        id=owner,
    )
    factories.message(owner, session="acc-1")


def _in_doubt(owner: int) -> None:
    factory_effects.in_doubt(owner, key="charge-1")


def _gap(owner: int) -> None:
    number = factory_order.message(owner, 3, session="acc-1")
    session = one("SELECT session FROM comboio_message WHERE id = %(id)s", id=number)
    factory_order.gap(session, missing=2, before=3)


def _mismatch(owner: int) -> None:
    factories.mismatch(factories.message(owner, session="acc-1"))


FAULTS = {
    "a dead head holds its session": Fault(
        make=_dead_head, cause="ValueError: no such account", button="Requeue message", typed={}
    ),
    "a few are dead of one cause": Fault(
        make=_dead(3), cause="KeyError: 'tax_id'", button="Requeue 3 messages", typed={}
    ),
    "many are dead of one cause": Fault(
        make=_dead(101), cause="KeyError: 'tax_id'", button="Requeue 101 messages…", typed={}
    ),
    "a session is held by a person": Fault(
        make=_held_session, cause="bert: asked to wait", button="Resume the session", typed={}
    ),
    "a consumer is held by a person": Fault(
        make=_held_consumer, cause="bert: maintenance", button="Resume the consumer", typed={}
    ),
    "an effect is in doubt": Fault(
        make=_in_doubt, cause="comboio-", button="Ask the provider", typed={}
    ),
    "a number is missing": Fault(
        make=_gap, cause="Its sender left a number out", button="Skip", typed={"reason": "lost"}
    ),
    "an id was used twice": Fault(
        make=_mismatch,
        cause="Its sender used one id for two different payloads",
        button="Keep first",
        typed={"reason": "their bug"},
    ),
}


@pytest.fixture
def owner() -> Iterator[int]:
    """A consumer that an effect's provider can be asked for, with a worker and fresh figures."""
    number = factories.consumer(name=NAME, when_dead="hold")
    charge = Effect(name="charge", call=_never, kind="queryable", reconcile=_known)
    registry.add(Consumer(name=NAME, source="x", handler=_never, external=True, effects=(charge,)))
    factory_figures.worker()
    yield number
    registry.remove(NAME)


@pytest.mark.parametrize("name", FAULTS)
def test_it_names_consumer_cause_time_and_button_and_the_button_mends_it(
    name: str, senior: Client, owner: int
) -> None:
    fault = FAULTS[name]
    fault.make(owner)
    factory_figures.snapshot()
    html = senior.get("/").content.decode()
    start = " ".join(looking.Markup(_main(html)).text.split())[:START]
    for part in (NAME, fault.cause, "since", fault.button):
        assert part in start
    _press(senior, html, fault)
    after = senior.get("/").content.decode()
    assert fault.cause not in " ".join(looking.Markup(_main(after)).text.split())[:START]


def _main(html: str) -> str:
    """What follows the bar and the warning that this database is one of a test."""
    return html[html.index('id="verdict"') - 3 :]


def _press(client: Client, html: str, fault: Fault) -> None:
    """What the button of the verdict sends; a link leads to a plan whose button is pressed."""
    verdict = html[html.index('id="verdict"') : html.index('class="aside"')]
    form = re.search(r'<form method="post" action="([^"]+)"(.*?)</form>', verdict, re.DOTALL)
    if form is None:
        link = re.search(r'href="(/requeues/plan/[^"]+)"', verdict)
        assert link
        plan = client.get(link[1]).content.decode()
        fields = _fields(plan[plan.index('id="plan"') :])
        assert client.post("/requeues/start/", {**fields, "first": "all"}).status_code == 303
        return
    response = client.post(form[1], {**_fields(form[2]), **fault.typed})
    assert response.status_code == 303, response.content.decode()


def _fields(form: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


def _known(_call: Call) -> Evidence:
    return Evidence(told=Told.DONE, result={"charge": "ch_42"}, reference="ch_42")


def _never(_call: object) -> None:
    raise AssertionError("nothing is called here")
