"""A broker that is killed comes back with what it had confirmed."""

from __future__ import annotations

import pika

from tests.rabbitmq import Node, Queue


def test_a_killed_node_is_back_with_its_confirmed_messages(rabbitmq: Node, queue: Queue) -> None:
    queue.channel.confirm_delivery()
    queue.put("kept", pika.BasicProperties(delivery_mode=2))
    rabbitmq.control("eval", "mnesia:sync_log().")  # a queue that is new is not on disk at once
    seconds = rabbitmq.kill()
    assert 0 < seconds < 90
    with rabbitmq.connect() as again:
        method, _, body = again.channel().basic_get(queue.name, auto_ack=True)
    assert method is not None
    assert body == b"kept"
