"""The first 300 characters of the Overview say what, why, since when, what to press: it mends."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests import factory_figures
from tests.dashboard import looking
from tests.dashboard.conftest import OWNER
from tests.dashboard.seeded_faults import FAULTS, Fault

pytestmark = pytest.mark.django_db
START = 300


@pytest.mark.parametrize("name", FAULTS)
def test_it_names_consumer_cause_time_and_button_and_the_button_mends_it(
    name: str, senior: Client, owner: int
) -> None:
    fault = FAULTS[name]
    fault.make(owner)
    factory_figures.snapshot()
    html = senior.get("/").content.decode()
    start = " ".join(looking.Markup(_main(html)).text.split())[:START]
    for part in (OWNER, fault.cause, "since", fault.button):
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
