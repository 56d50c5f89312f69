"""Ask, mark done, mark not done, escalate, and steal a lease."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.engine import registry
from tests.dashboard import looking
from tests.dashboard.scene import Scene
from tests.rows import one

pytestmark = pytest.mark.django_db


def _post(client: Client, scene: Scene, verb: str, **values: str) -> tuple[int, str]:
    """Use a verb as its form on the page does; the status and the page that comes after."""
    page = f"/reconcile/{scene.effect}/"
    url = f"{page}{verb}/"
    values |= {"seen": looking.seen(client, page, url), "next": page}
    status = client.post(url, values).status_code
    again = client.post(url, values)
    if verb != "escalate":
        assert again.status_code == 409
    return status, client.get(page).content.decode()


@pytest.fixture
def provider(filled: Scene) -> Iterator[list[str]]:
    """What the provider is asked for; it knows every charge."""
    asked: list[str] = []

    def probe(call: Call) -> Evidence:
        asked.append(call.key)
        return Evidence(told=Told.DONE, result={"charge": "ch_9"}, reference="ch_9")

    charge = Effect(name="charge", call=_never, kind="queryable", reconcile=probe)
    owner = "payments.charge"
    kept = registry.get(owner)
    if kept is not None:
        registry.remove(owner)
    registry.add(Consumer(name=owner, source="x", handler=_never, external=True, effects=(charge,)))
    yield asked
    registry.remove(owner)
    if kept is not None:
        registry.add(kept)


def test_asking_settles_with_the_evidence_on_the_page(
    operator: Client, filled: Scene, provider: list[str]
) -> None:
    key = one("SELECT key FROM comboio_effect WHERE id = %(id)s", id=filled.effect)
    status, html = _post(operator, filled, "ask")
    assert (status, provider) == (303, [key])
    assert "“charge” happened: settled by olga" in html
    assert "The provider, asked by olga: it happened" in html
    assert looking.state(filled.doubted) == "ready"


def test_mark_done_keeps_its_reference(senior: Client, filled: Scene) -> None:
    status, html = _post(senior, filled, "done", reference="ch_77", reason="saw it there")
    assert status == 303
    assert "“charge” happened: settled by sara" in html
    assert "ch_77" in html
    assert "saw it there" in html
    assert looking.state(filled.doubted) == "ready"


def test_mark_not_done_lets_the_message_run_again(senior: Client, filled: Scene) -> None:
    status, html = _post(senior, filled, "not-done", reason="they never got it")
    assert status == 303
    assert "“charge” did not happen: settled by sara." in html
    assert "The next attempt calls it again." in html
    assert looking.state(filled.doubted) == "ready"


def test_escalate_says_who_asks_for_help_and_settles_nothing(
    operator: Client, filled: Scene
) -> None:
    status, html = _post(operator, filled, "escalate", reason="a large sum")
    assert status == 303
    assert "Escalated by olga." in html
    assert looking.state(filled.doubted) == "in_doubt"


@pytest.mark.parametrize("verb", ["done", "not-done"])
def test_an_operator_may_ask_but_not_decide(verb: str, operator: Client, filled: Scene) -> None:
    page = f"/reconcile/{filled.effect}/"
    html = operator.get(page).content.decode()
    assert f'action="{page}ask/"' in html
    assert f'action="{page}{verb}/"' not in html
    values = {"seen": "1", "reason": "x", "reference": "y"}
    assert operator.post(f"{page}{verb}/", values).status_code == 403


def test_a_stolen_lease_is_gone_for_its_holder(senior: Client, filled: Scene) -> None:
    session = one("SELECT session FROM comboio_lease")
    page = f"/sessions/{session}/"
    url = f"{page}steal/"
    values = {"seen": looking.seen(senior, page, url), "reason": "its host hangs", "next": page}
    assert senior.post(url, values).status_code == 303
    assert (
        "Lease taken from its holder"
        in senior.get(
            f"/messages/{one('SELECT message_id FROM comboio_event ORDER BY id DESC LIMIT 1')}/"
        ).content.decode()
    )
    assert senior.post(url, values).status_code == 409


def _never(_call: object) -> None:
    raise AssertionError("nothing is called here")
