"""The verbs on groups, by the forms of the pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from dashboard.triage_forms import MORNING
from tests import factories, factory_triage
from tests.dashboard import looking
from tests.rows import one, rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def number() -> int:
    """A group of one held session."""
    return factory_triage.alert(factories.consumer())


def _post(client: Client, number: int, verb: str, **values: str) -> int:
    url = f"/triage/{number}/{verb}/"
    page = f"/triage/{number}/"
    answer = client.post(url, {"seen": looking.seen(client, page, url), "next": page, **values})
    return answer.status_code


def test_one_click_takes_it_and_the_second_is_refused(operator: Client, number: int) -> None:
    url = f"/triage/{number}/take/"
    values = {"seen": looking.seen(operator, "/triage/", url), "next": "/triage/"}
    assert operator.post(url, values).status_code == 303
    assert rows("SELECT owner, owned_at IS NOT NULL FROM comboio_triage") == [("olga", True)]
    assert operator.post(url, values).status_code == 409
    assert url not in operator.get("/triage/").content.decode()


def test_the_same_click_sent_twice_is_carried_out_once(operator: Client, number: int) -> None:
    html = operator.get("/triage/").content.decode()
    form = re.search(rf'action="/triage/{number}/take/".*?</form>', html, re.DOTALL)
    assert form
    values = dict(re.findall(r'name="(click|seen)" value="([^"]*)"', form[0]))
    for _ in range(2):
        assert operator.post(f"/triage/{number}/take/", values).status_code == 303
    assert one("SELECT count(*) FROM comboio_audit") == 1


def test_ticked_groups_are_taken_each_as_it_was_seen(operator: Client, number: int) -> None:
    owner = factories.consumer()
    other = factory_triage.alert(owner)
    factory_triage.said(owner, note="seen before")
    values = {"pick": [f"{number}:0", f"{other}:0"], "next": "/triage/"}
    assert operator.post("/triage/take/", values).status_code == 303
    assert rows("SELECT owner FROM comboio_triage ORDER BY owner") == [("",), ("olga",)]
    told = looking.Markup(operator.get("/triage/").content.decode()).text
    assert "You look after 1 group now. 1 was refused" in told


def test_it_is_given_to_one_of_those_who_may_operate(
    operator: Client, senior: Client, number: int
) -> None:
    assert _post(operator, number, "give", owner="sara") == 303
    assert one("SELECT owner FROM comboio_triage") == "sara"
    assert _post(operator, number, "give", owner="nobody at all") == 409
    assert _post(operator, number, "give", owner="") == 303
    assert one("SELECT owner FROM comboio_triage") == ""


def test_a_note_is_kept_with_who_wrote_it(operator: Client, number: int) -> None:
    assert _post(operator, number, "note", note="first line\r\nsecond <b>line</b>") == 303
    html = operator.get(f"/triage/{number}/").content.decode()
    assert "second &lt;b&gt;line&lt;/b&gt;" in html
    assert rows("SELECT note, noted_by FROM comboio_triage") == [
        ("first line\nsecond <b>line</b>", "olga")
    ]


def test_a_snooze_of_an_hour_ends_in_an_hour_and_can_be_ended(
    operator: Client, number: int
) -> None:
    assert _post(operator, number, "snooze", until="hour") == 303
    seconds = one("SELECT extract(epoch FROM snoozed_until - now())::int FROM comboio_triage")
    assert 3500 < seconds <= 3600
    assert _post(operator, number, "wake") == 303
    assert one("SELECT snoozed_until FROM comboio_triage") is None


def test_tomorrow_morning_is_that_of_the_viewers_zone(operator: Client, number: int) -> None:
    operator.cookies["tz"] = "Asia/Kolkata"
    assert _post(operator, number, "snooze", until="morning") == 303
    local = one(
        "SELECT snoozed_until AT TIME ZONE 'Asia/Kolkata' - date_trunc('day',"
        " now() AT TIME ZONE 'Asia/Kolkata') FROM comboio_triage"
    )
    assert (local.days, local.seconds) == (1, MORNING.hour * 3600)


def test_a_given_time_is_read_in_the_viewers_zone(operator: Client, number: int) -> None:
    operator.cookies["tz"] = "Asia/Kolkata"
    day = datetime.now(UTC).date().toordinal() + 2
    at = f"{datetime.fromordinal(day):%Y-%m-%d}T05:30"
    assert _post(operator, number, "snooze", until="at", at=at) == 303
    until = one("SELECT snoozed_until AT TIME ZONE 'UTC' FROM comboio_triage")
    assert until == datetime.fromordinal(day)


@pytest.mark.parametrize("at", ["", "yesterday", "2026-13-01T00:00", "2020-01-01T00:00"])
def test_a_time_that_cannot_be_is_refused_in_words(at: str, operator: Client, number: int) -> None:
    assert _post(operator, number, "snooze", until="at", at=at) == 409
    assert rows("SELECT id FROM comboio_triage") == []


def test_a_form_without_the_seen_version_does_nothing(operator: Client, number: int) -> None:
    assert operator.post(f"/triage/{number}/take/", {}).status_code == 409


def test_what_was_said_stands_in_the_audit_with_a_link_to_the_group(
    operator: Client, number: int
) -> None:
    _post(operator, number, "note", note="the gateway")
    html = operator.get("/audit/?verb=note").content.decode()
    assert f'href="/triage/{number}/"' in html
    assert "the gateway" in html


def test_its_dead_letters_are_requeued_of_this_consumer_only(operator: Client) -> None:
    owner, other = factories.consumer(), factories.consumer()
    for each in (owner, owner, other):
        factories.message(each, state="dead", session="", cause="poison: x")
    number = one("SELECT id FROM comboio_alert WHERE consumer = %(owner)s", owner=owner)
    html = operator.get(f"/triage/{number}/").content.decode()
    assert "Requeue 2 messages" in html
    form = re.search(r'action="/requeues/start/".*?</form>', html, re.DOTALL)
    assert form
    values = dict(re.findall(r'name="(click|seen|cause|consumer)" value="([^"]*)"', form[0]))
    assert operator.post("/requeues/start/", values).status_code == 303
    assert rows("SELECT consumer FROM comboio_dead") == [(other,)]
