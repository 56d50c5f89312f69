"""Requeues of many: started from a plan, gone on with, stopped; nothing twice."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from monitor.operations import bulk, carrying
from tests import factories, factory_requeues
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.monitor.operations.scenes import version
from tests.rows import one, rows

pytestmark = pytest.mark.django_db
START = "/requeues/start/"


def _plan(client: Client, query: str) -> dict[str, str]:
    """The fields of the plan's form, as a browser would send them."""
    html = client.get(f"/requeues/plan/{query}").content.decode()
    form = html[html.index('id="plan"') :]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))


def _bulk() -> tuple[str, int, int]:
    (row,) = rows("SELECT state, total, moved FROM comboio_bulk ORDER BY id DESC LIMIT 1")
    return row


def test_one_goes_first_and_its_page_goes_on_with_the_rest(operator: Client, filled: Scene) -> None:
    values = _plan(operator, f"?consumer={filled.payments}")
    dead = one("SELECT count(*) FROM comboio_dead WHERE consumer = %(c)s", c=filled.payments)
    response = operator.post(START, {**values, "first": "one", "percent": "50"})
    assert response.status_code == 303
    assert _bulk() == ("canary", dead, 1)
    number = one("SELECT max(id) FROM comboio_bulk")
    assert response["Location"] == f"/requeues/{number}/"
    assert one("SELECT failure_limit FROM comboio_bulk WHERE id = %(n)s", n=number) == 0.5
    assert "wait for its outcome" in operator.get(response["Location"]).content.decode()


def test_all_go_and_what_was_frozen_is_what_was_shown(operator: Client, filled: Scene) -> None:
    values = _plan(operator, f"?consumer={filled.payments}")
    late = factories.message(filled.payments, state="dead", session="late")
    operator.post(START, {**values, "first": "all"})
    assert looking.state(late) == "dead"
    assert rows("SELECT id FROM comboio_dead WHERE consumer = %(c)s", c=filled.payments) == [
        (late,)
    ]


def test_the_form_sent_twice_requeues_once_and_says_so(operator: Client, filled: Scene) -> None:
    values = {**_plan(operator, f"?consumer={filled.payments}"), "first": "all"}
    operator.post(START, values)
    before = looking.everything()
    response = operator.post(START, values, follow=True)
    assert "This click was carried out already" in response.content.decode()
    assert looking.everything() == before


def test_a_viewer_sees_the_plan_and_may_start_nothing(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/requeues/plan/?consumer={filled.payments}").content.decode()
    assert "This needs the permission" in html
    assert viewer.post(START, {"seen": "99999999", "first": "all"}).status_code == 403


@pytest.mark.parametrize("values", [{}, {"seen": "x"}, {"per_second": "-1", "percent": "x"}])
def test_a_senseless_form_starts_nothing_or_falls_back(
    values: dict[str, str], operator: Client, filled: Scene
) -> None:
    before = one("SELECT count(*) FROM comboio_dead")
    assert operator.post(START, values).status_code == 409
    assert one("SELECT count(*) FROM comboio_dead") == before


def test_the_rest_is_gone_on_with_as_it_was_seen_only(operator: Client, filled: Scene) -> None:
    number = _stopped(filled)
    seen = version("comboio_bulk", number)
    assert operator.post(f"/requeues/{number}/go-on/", {"seen": seen - 1}).status_code == 409
    assert operator.post(f"/requeues/{number}/go-on/", {"seen": seen}).status_code == 303
    assert (
        one(
            "SELECT left_ FROM (SELECT total - moved AS left_ FROM comboio_bulk"
            " WHERE id = %(n)s) b",
            n=number,
        )
        == 0
    )


def test_a_stop_is_told_and_the_second_is_refused(
    operator: Client, filled: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "CLICK_SECONDS", -1)
    monkeypatch.setattr(carrying, "CHUNK", 2)
    values = _plan(operator, f"?consumer={filled.payments}")
    page = operator.post(START, {**values, "first": "all"})["Location"]
    first = operator.post(f"{page}stop/", headers=looking.SCRIPTED)
    assert "stay dead" in first.content.decode()
    assert operator.post(f"{page}stop/", headers=looking.SCRIPTED).status_code == 409
    assert _bulk()[0] == "stopped"


def _stopped(filled: Scene) -> int:
    number = factory_requeues.requeue(filled.payments, left=1, processed=0)
    factory_requeues.item(number, factories.message(filled.payments, state="dead", session="z"))
    return number


def test_while_one_runs_its_plan_leads_to_it_and_starts_no_other(
    operator: Client, filled: Scene
) -> None:
    values = _plan(operator, "")
    page = operator.post(START, {**values, "first": "all", "per_second": "1"})["Location"]
    assert f'href="{page}"' in operator.get("/requeues/plan/").content.decode()
    again = {**values, "click": "", "first": "all"}
    assert operator.post(START, again).status_code == 409
