"""C20: odd session ids: one treatment at every entrance, sessions of their own, pages that open."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from monitor.domain.message import Message
from monitor.maintenance import chores
from monitor.sources.cloudevents import STRUCTURED
from monitor.testing import Inbox
from tests.dashboard.conftest import user
from tests.dashboard.looking import Markup
from tests.engine import consuming, drain_all, send
from tests.entrance import EVENTS, PLAIN, configured, post
from tests.monitor.cases.odd_sessions import ABSENT, BROKEN, NONE, ODD
from tests.monitor.sources.letters import deliver, letter
from tests.rows import one, rows

MESSAGES = 3


def _by_json(body: dict[str, Any]) -> bool:
    answer = post("test", json.dumps(body).encode())
    assert answer.status in (202, 400)
    return answer.status == 202


def _by_cloudevents(body: dict[str, Any]) -> bool:
    event = {"specversion": "1.0", "type": "t", "source": "test", "id": body["id"], "data": body}
    answer = post("test", json.dumps(event).encode(), content_type=STRUCTURED)
    assert answer.status in (202, 400)
    return answer.status == 202


def _by_amqp(body: dict[str, Any]) -> bool:
    sent = letter(json.dumps(body), properties={"content_type": "application/json"})
    found = deliver(sent, name="test", key="id", session="session")
    send(found)
    return not found.malformed


# entrance: (how it is sent, the settings of the HTTP source, what the consumer says)
ENTRANCES: dict[str, tuple[Callable[[dict[str, Any]], bool], dict[str, Any], str | None]] = {
    "json": (_by_json, {**PLAIN, "session": "session"}, None),
    "cloudevents": (_by_cloudevents, {**EVENTS, "session": "session"}, None),
    "amqp": (_by_amqp, PLAIN, None),
    "consumer": (_by_json, PLAIN, "session"),
}


def _body(key: str, session: Any) -> dict[str, Any]:
    return {"id": key} if session is ABSENT else {"id": key, "session": session}


def _send_all(entrance: str, sessions: tuple[Any, ...], accepted: bool) -> None:
    put = ENTRANCES[entrance][0]
    for turn in range(MESSAGES):
        for place, session in enumerate(sessions):
            assert put(_body(f"{place}-{turn}", session)) == accepted, session


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_each_is_a_session_of_its_own_and_runs_in_order(inbox: Inbox, entrance: str) -> None:
    ran: dict[str, list[str]] = defaultdict(list)
    _, source, place = ENTRANCES[entrance]

    def handle(_payload: Any, message: Message) -> None:
        ran[message.session].append(message.key)

    with configured(test=source), consuming(handle, session=place):
        _send_all(entrance, ODD, accepted=True)
        drain_all()
    assert ran == {s: [f"{n}-{turn}" for turn in range(MESSAGES)] for n, s in enumerate(ODD)}
    assert sorted(rows("SELECT key FROM comboio_session")) == sorted((each,) for each in ODD)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_absent_null_and_empty_are_no_session(inbox: Inbox, entrance: str) -> None:
    _, source, place = ENTRANCES[entrance]
    with configured(test=source), consuming(lambda _payload, _message: None, session=place):
        _send_all(entrance, NONE, accepted=True)
    assert one("SELECT count(*) FROM comboio_session") == 0
    assert one("SELECT count(DISTINCT session) FROM comboio_ready") == MESSAGES * len(NONE)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_what_breaks_the_rule_is_refused_and_no_message_runs(inbox: Inbox, entrance: str) -> None:
    _, source, place = ENTRANCES[entrance]
    with configured(test=source), consuming(lambda _payload, _message: None, session=place):
        _send_all(entrance, BROKEN, accepted=False)
    assert one("SELECT count(*) FROM comboio_ready") == 0
    assert one("SELECT count(*) FROM comboio_session") == 0


def test_each_page_opens_from_the_list_with_exactly_its_messages(inbox: Inbox) -> None:
    with consuming(lambda _payload, _message: None):
        for turn in range(MESSAGES):
            for place, session in enumerate(ODD):
                inbox.deliver("test", {}, key=f"{place}-{turn}", session=session)
    chores.run_once(next(each for each in chores.CHORES if each.name == "take snapshot"))
    client, other = Client(), Client()  # the other one has only the copied link
    client.force_login(user("victor", "viewer"))
    other.force_login(user("vera", "viewer"))
    listed = client.get("/sessions/").content.decode()
    assert Markup(listed).inline == []
    links = set(re.findall(r'href="(/sessions/[^"?]+)"', listed))
    assert len(links) == len(ODD)
    expected = dict(
        rows("SELECT session, array_agg(id ORDER BY id) FROM comboio_message GROUP BY 1")
    )
    for link in links:
        answer = other.get(link)
        assert answer.status_code == 200
        html = answer.content.decode()
        shown = [int(each) for each in re.findall(r'id="message-(\d+)"', html)]
        assert shown == expected[int(link.strip("/").rpartition("/")[2])]
        assert len(shown) == MESSAGES
        assert Markup(html).inline == []
