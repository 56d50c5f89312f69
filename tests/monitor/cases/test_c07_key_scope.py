"""C07: a key counts within its consumer and its origin, and its parts never run together."""

from __future__ import annotations

import json

import pytest

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import DeadLetter
from monitor.domain.message import Message
from monitor.operations import messages
from tests import engine, entrance
from tests.entrance import EVENTS, PLAIN, configured, get, post
from tests.rows import rows

pytestmark = pytest.mark.django_db(transaction=True)


def _event(source: str, key: str) -> int:
    event = {"specversion": "1.0", "type": "t", "source": source, "id": key, "data": 1}
    body = json.dumps(event).encode()
    return post("events", body, content_type="application/cloudevents+json").status


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a/b", "c"), ("a", "b/c")), (("s|1", "2"), ("s", "1|2")), (("t1", "42"), ("t2", "42"))],
)
def test_c07_pairs_of_origin_and_id_are_distinct(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    with configured(events=EVENTS), entrance.effects("events"):
        assert [_event(*one), _event(*other), _event(*one), _event(*other)] == [202, 202, 200, 200]
        assert entrance.count_effects() == 2


def test_c07_two_consumers_of_one_event_each_run_it() -> None:
    mends: list[str] = []

    def mail(payload: object, message: Message) -> None:
        if not mends:
            raise DeadLetter("mail is refused")

    with (
        configured(shop=PLAIN),
        entrance.effects("shop"),
        engine.consuming(mail, name="shop.mail", source="shop"),
    ):
        assert post("shop", b'{"id":42}').status == 202
        assert entrance.count_effects() == 1
        states = {each["consumer"]: each["state"] for each in get("shop", "42").body["consumers"]}
        assert states == {"shop.effect": "done", "shop.mail": "dead"}
        mends.append("the mail server")
        number, seen = rows("SELECT id, version FROM comboio_dead")[0]
        messages.requeue(SYSTEM, number, seen=seen)
        assert entrance.count_effects() == 1
        states = {each["consumer"]: each["state"] for each in get("shop", "42").body["consumers"]}
        assert states == {"shop.effect": "done", "shop.mail": "done"}


def test_c07_two_sources_with_one_origin_are_one_stream_of_keys() -> None:
    # What comes by two entrances from one producer is one message.
    sources = {"left": {**PLAIN, "origin": "urn:p"}, "right": {**PLAIN, "origin": "urn:p"}}
    with configured(**sources), entrance.effects("left", "right"):
        assert post("left", b'{"id":1}').status == 202
        assert post("left", b'{"id":1}').status == 200
        assert post("right", b'{"id":1}').status == 202
        assert entrance.count_effects(consumer="left.effect") == 1
