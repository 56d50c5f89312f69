"""Triage: the queue of groups, and the page of one."""

from __future__ import annotations

import pytest
from django.test import Client

from tests import factories, factory_effects, factory_triage
from tests.dashboard import looking
from tests.dashboard.scene import HOSTILE, Scene
from tests.rows import one, run

pytestmark = pytest.mark.django_db


def _text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return looking.Markup(response.content.decode()).text


def _alert(kind: str) -> int:
    return int(one("SELECT max(id) FROM comboio_alert WHERE kind = %(kind)s", kind=kind))


def test_all_kinds_stand_in_one_queue(viewer: Client, filled: Scene) -> None:
    text = _text(viewer, "/triage/")
    for told in ("SMTPServerDisconnected", "held session", "effect in doubt", "mismatch"):
        assert told in text
    assert all(each.replace("\u202e", "\\u202e") in text for each in HOSTILE)


def test_the_queue_is_narrowed_by_state_kind_consumer_and_owner(
    operator: Client, filled: Scene
) -> None:
    assert "SMTPServerDisconnected" not in _text(operator, "/triage/?kind=mismatch")
    assert "SMTPServerDisconnected" not in _text(operator, f"/triage/?consumer={filled.payments}")
    assert "No match" in _text(operator, "/triage/?mine=1")
    assert "No group is in this state" in _text(operator, "/triage/?show=snoozed")
    number = factory_triage.alert(filled.payments, cause="olgas")
    factory_triage.said(filled.payments, cause="olgas", owner="olga")
    assert "It needs a person" in _text(operator, "/triage/?mine=1&show=ongoing")
    assert number


def test_an_empty_queue_says_that_all_is_clear(viewer: Client) -> None:
    assert "Nothing needs a person." in _text(viewer, "/triage/")


def test_a_senseless_filter_is_no_error(viewer: Client, filled: Scene) -> None:
    for query in ("show=x", "kind=%00", "consumer=99999", "mine=2", "page=", "show=all&kind=x"):
        assert viewer.get(f"/triage/?{query}").status_code == 200


def test_the_badge_counts_what_needs_somebody(viewer: Client) -> None:
    owner = factories.consumer()
    for cause in ("a", "b", "c"):
        factory_triage.alert(owner, cause=cause)
    factory_triage.said(owner, cause="b", owner="anna")
    factory_triage.said(owner, cause="c", snoozed_for=1)
    html = viewer.get("/triage/", headers=looking.PIECE).content.decode()
    assert 'hx-target=".tally-triage" hx-swap="textContent">1<' in html


def test_a_sleeping_group_stays_listed_with_who_and_until(viewer: Client) -> None:
    owner = factories.consumer()
    factory_triage.alert(owner)
    factory_triage.said(owner, snoozed_for=1)
    html = viewer.get("/triage/").content.decode()
    assert "data-asleep" in html
    assert "by anna" in looking.Markup(html).text


def test_a_group_of_dead_letters_says_why_and_shows_what_varies(viewer: Client) -> None:
    owner = factories.consumer()
    for number in range(3):
        dead = factories.message(
            owner, state="dead", session=f"s{number}", error=f"ValueError: no {number}", cause="c"
        )
        factory_triage.death(dead, '["shop.apply"]')
    html = viewer.get(f"/triage/{_alert('dead letter')}/").content.decode()
    text = looking.Markup(html).text
    assert '<mark class="varies">2</mark>' in html
    for told in ("Compared: the class", "shop.apply", "The same in 3 of 3.", "safe", "payment (3)"):
        assert told in text, told


@pytest.mark.parametrize("kind", ["held session", "effect in doubt", "mismatch", "gap", "conflict"])
def test_every_kind_has_its_page_and_its_members(kind: str, senior: Client, filled: Scene) -> None:
    text = _text(senior, f"/triage/{_alert(kind)}/")
    assert "Why grouped" in text
    assert "Members" in text


def test_the_page_of_a_group_has_the_verbs_that_mend_its_kind(
    senior: Client, filled: Scene
) -> None:
    session = "SELECT id FROM comboio_alert WHERE kind = 'held session' AND target = %(id)s"
    held = one(session, id=filled.held_session)
    assert f'action="/dead-letters/{filled.dead_head}/requeue/"' in (
        senior.get(f"/triage/{held}/").content.decode()
    )
    number = _alert("mismatch")
    assert f'action="/mismatches/{filled.mismatch}/keep-first/"' in (
        senior.get(f"/triage/{number}/").content.decode()
    )
    effect = "SELECT id FROM comboio_alert WHERE kind = 'effect in doubt' AND target = %(id)s"
    doubt = one(effect, id=filled.effect)
    assert f'action="/reconcile/{filled.effect}/ask/"' in (
        senior.get(f"/triage/{doubt}/").content.decode()
    )


def test_many_effects_of_a_group_are_asked_about_at_once(operator: Client) -> None:
    owner = factories.consumer()
    for number in range(2):
        factory_effects.in_doubt(owner, session=f"s{number}")
    run("UPDATE comboio_alert SET cause = 'charge'")
    html = operator.get(f"/triage/{_alert('effect in doubt')}/").content.decode()
    assert 'action="/reconcile/ask/"' in html


def test_it_says_why_a_snooze_ended_early(viewer: Client) -> None:
    owner = factories.consumer()
    number = factory_triage.alert(owner, raised=40)
    factory_triage.said(owner, snoozed_for=1, snoozed_raised=2)
    assert "it was raised 2 times then, and 40 now" in _text(viewer, f"/triage/{number}/")
    run("UPDATE comboio_alert SET count = 1")
    run("UPDATE comboio_triage SET snoozed_at = now() - interval '3 h'")
    assert "it was gone, and came back" in _text(viewer, f"/triage/{number}/")


def test_a_resolved_group_keeps_owner_and_note(viewer: Client) -> None:
    owner = factories.consumer()
    number = factory_triage.alert(owner, kind="dead letter", resolved=0.5)
    factory_triage.said(owner, kind="dead letter", owner="anna", note="the gateway")
    text = _text(viewer, f"/triage/{number}/")
    for told in ("resolved", "anna", "the gateway", "Nothing is left of it"):
        assert told in text


def test_a_cause_of_one_consumer_has_one_page(viewer: Client) -> None:
    owner, other = factories.consumer(), factories.consumer()
    factories.message(owner, state="dead", cause="poison: x")
    response = viewer.get("/dead-letters/?cause=poison%3A+x")
    assert response["Location"] == f"/triage/{_alert('dead letter')}/"
    factories.message(other, state="dead", cause="poison: x")
    text = _text(viewer, "/dead-letters/?cause=poison%3A+x")
    assert "Groups of this cause" in text
    wanted = f"/dead-letters/?cause=poison%3A+x&consumer={owner}"
    assert viewer.get(wanted).status_code == 302


def test_an_alert_leads_to_its_group(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/alerts/").content.decode()
    assert f'href="/triage/{_alert("mismatch")}/"' in html
    assert viewer.get(f"/alerts/{_alert('dead letter')}/")["Location"].startswith("/triage/")


def test_the_overview_marks_what_sleeps(viewer: Client) -> None:
    owner = factories.consumer()
    factories.message(owner, state="dead", error="ValueError: asleep")
    cause = "poison: ValueError: asleep"
    factory_triage.said(owner, kind="dead letter", cause=cause, snoozed_for=1)
    text = _text(viewer, "/")
    assert "Nothing new. 1 problem is snoozed." in text
    assert "snoozed" in text


def test_a_viewer_sees_the_verbs_disabled_with_the_reason(viewer: Client, filled: Scene) -> None:
    html = viewer.get(f"/triage/{_alert('dead letter')}/").content.decode()
    assert "This needs the permission “operate”; ask an administrator." in html
    assert "/take/" not in html
