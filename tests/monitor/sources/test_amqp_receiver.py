"""A real queue of RabbitMQ, a foreign client, and what the receiver makes of it."""

from __future__ import annotations

import pytest

from monitor.domain.consumer import Consumer
from tests.feed import with_duplicates
from tests.monitor.sources.receivers import about, count, receiving, rows, stored
from tests.rabbitmq import Queue
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = "SELECT count(*) FROM comboio_message"


def test_each_message_is_stored_once_in_order_and_acknowledged(
    queue: Queue, taker: Consumer
) -> None:
    sent = [(f"m-{n}", f"s-{n % 97}", f'{{"n":{n}}}') for n in range(8000)]
    deliveries = with_duplicates(sent, 2000)
    for key, session, body in deliveries:
        queue.put(body, about(key, session))
    with receiving(queue, session="header:x-session") as health:
        wait_until(lambda: health.messages == 10_000, 60, what="10,000 acknowledged messages")
    assert (health.new, health.duplicate) == (8000, 2000)
    assert [body for _, body in stored()] == [body for _, _, body in sent]
    assert count("SELECT count(DISTINCT session) FROM comboio_ready") == 97
    assert queue.left() == 0


def test_what_cannot_be_read_is_set_aside_and_the_queue_goes_on(
    queue: Queue, taker: Consumer
) -> None:
    queue.put(b"{broken", about("bad-json"))
    queue.put(b"\xff\xfe", about("bad-utf8"))
    queue.put(b'{"v":NaN}', about("nan"))
    queue.put(b"{}", about("k" * 200 + "\u0001"))
    queue.put(b'{"nul":1}', about("a\u0000b"))
    queue.put(b'{"text":1}', about(b"\xff\xfe"))
    queue.put(b'{"time":1}', about("late", timestamp=2**63))
    queue.put(b'{"keyless":1}')
    queue.put(b'"' + b"x" * 2_000_000 + b'"', about("too-large"))
    queue.put(b'{"good":1}', about("good"))
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 10, what="ten messages")
    dead = rows("SELECT reason, count(*) FROM comboio_dead GROUP BY reason")
    assert ("malformed", 8) in dead
    assert stored("consumer <> 0") == [("late", '{"time":1}'), ("good", '{"good":1}')]
    assert count(f"{MESSAGES} WHERE octet_length(payload) > 2000000") == 1
    assert count("SELECT count(*) FROM comboio_dead WHERE error = ''") == 0
    assert queue.left() == 0


def test_a_message_set_aside_twice_is_one_dead_letter(queue: Queue) -> None:
    for _ in range(3):
        queue.put(b"{broken", about("bad"))
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 3, what="three messages")
    assert count("SELECT count(*) FROM comboio_dead") == 1


@pytest.mark.parametrize(("policy", "dead", "accepted"), [("reject", 2, 0), ("derive", 0, 2)])
def test_messages_without_key_follow_the_policy(
    queue: Queue, taker: Consumer, policy: str, dead: int, accepted: int
) -> None:
    for body in (b'{"a":1}', b'{"a":2}', b'{"a":1}'):
        queue.put(body)
    with receiving(queue, missing_key=policy) as health:
        wait_until(lambda: health.messages == 3, what="three messages")
    assert count("SELECT count(*) FROM comboio_dead") == dead
    assert count("SELECT count(*) FROM comboio_ready") == accepted


@pytest.mark.parametrize(("unrouted", "kept"), [("dead", 1), ("ignore", 0)])
def test_what_nobody_takes_is_kept_or_only_counted(queue: Queue, unrouted: str, kept: int) -> None:
    queue.put(b"{}", about("m"))
    with receiving(queue, unrouted=unrouted) as health:
        wait_until(lambda: health.messages == 1, what="one message")
    assert count("SELECT count(*) FROM comboio_dead") == kept
    assert queue.left() == 0


def test_a_changed_body_under_the_same_key_becomes_a_mismatch(
    queue: Queue, taker: Consumer
) -> None:
    queue.put(b'{"a":1}', about("m"))
    queue.put(b'{"a":2}', about("m"))
    with receiving(queue) as health:
        wait_until(lambda: health.messages == 2, what="two messages")
    assert (health.new, health.mismatch) == (1, 1)
    assert stored() == [("m", '{"a":1}')]


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-single-active-consumer": True},
        {"x-queue-type": "quorum"},
        {"x-queue-type": "quorum", "x-single-active-consumer": True},
    ],
)
def test_every_kind_of_queue_is_received_from(
    queue: Queue, taker: Consumer, arguments: dict[str, object]
) -> None:
    queue.channel.queue_delete(queue.name)
    queue.channel.queue_declare(queue.name, durable=True, arguments=arguments)
    for n in range(50):
        queue.put(f'{{"n":{n}}}', about(f"m-{n}"))
    with receiving(queue, batch_size=10) as health:
        wait_until(lambda: health.messages == 50, what="all messages")
    assert len(stored()) == 50
    wait_until(lambda: queue.left() == 0, what="an empty queue")
