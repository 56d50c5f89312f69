"""From a foreign sender on RabbitMQ to effects: once each, in order, whatever is killed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

import pika
import pytest

from tests.feed import with_duplicates
from tests.journeys.system import System
from tests.rabbitmq import Node, Queue
from tests.waiting import wait_until

MESSAGES, ACCOUNTS = int(os.environ.get("JOURNEY_MESSAGES", "4000")), 200
COPIES = MESSAGES // 4
SECONDS = 180  # the promise is one minute on a quiet machine; a busy one gets more

EFFECTS = "SELECT count(*) FROM payments_ledgerentry"
SENT = [
    {
        "id": f"p-{n}",
        "type": "payment",
        "account": f"acc-{n % ACCOUNTS}",
        "sequence": n // ACCOUNTS + 1,
        "amount_cents": n + 1,
    }
    for n in range(MESSAGES)
]


@pytest.fixture(scope="module")
def installation(rabbitmq: Node) -> Iterator[System]:
    """PostgreSQL of our own, prepared once for all journeys here."""
    made = System(rabbitmq)
    yield made
    made.close()


@pytest.fixture
def system(installation: System, queue: Queue) -> Iterator[System]:
    """An installation that reads the queue as the source “payments” of the examples."""
    installation.fresh(
        queue.name.replace(".", "_"),
        f'[sources.payments]\nkind = "amqp"\nurl_env = "PAYMENTS_URL"\nqueue = "{queue.name}"\n'
        'key = "id"\ntype = "type"\nsession = "account"\nsequence = "sequence"\n',
    )
    yield installation
    installation.stop_workers()


def nothing(system: System) -> None:
    """Kill nobody."""


def child(system: System) -> None:
    """Kill a child that holds a batch."""
    system.kill_child_at_work()


def parent(system: System) -> None:
    """Kill the worker's parent, receiver and all, and start another one, as a supervisor would."""
    system.workers[-1].kill()
    system.start_worker()


def postmaster(system: System) -> None:
    """Kill the database server."""
    system.kill_server()


@pytest.mark.parametrize("kill", [nothing, child, parent, postmaster])
def test_every_message_takes_effect_once_and_in_order(
    queue: Queue, system: System, kill: Callable[[System], None]
) -> None:
    for body in with_duplicates(SENT, COPIES):
        queue.put(json.dumps(body), pika.BasicProperties(delivery_mode=2))
    wait_until(lambda: queue.depth() == MESSAGES + COPIES, what="a full queue")
    system.start_worker()
    wait_until(lambda: system.number(EFFECTS) > 100, 60, what="the first effects")
    accepted = system.number("SELECT count(*) FROM comboio_message")
    kill(system)
    assert accepted < MESSAGES, "the kill came too late: nothing was on its way any more"
    wait_until(lambda: system.number(EFFECTS) >= MESSAGES, SECONDS, what="all effects")
    wait_until(lambda: system.number("SELECT count(*) FROM comboio_ready") == 0, what="no backlog")
    wait_until(lambda: queue.left() == 0, what="an empty queue")
    _check_effects(system)


def _check_effects(system: System) -> None:
    booked = system.ask(
        "SELECT account_id, array_agg(sequence ORDER BY id), array_agg(message_key ORDER BY id) "
        "FROM payments_ledgerentry GROUP BY account_id"
    )
    in_order = list(range(1, MESSAGES // ACCOUNTS + 1))
    assert len(booked) == ACCOUNTS
    assert [account for account, sequences, _ in booked if sequences != in_order] == []
    keys = [key for _, _, keys in booked for key in keys]
    assert sorted(keys) == sorted(each["id"] for each in SENT)
    sent_cents = sum(int(each["amount_cents"]) for each in SENT)
    assert system.number("SELECT sum(balance_cents) FROM payments_account") == sent_cents
    assert system.number("SELECT count(*) FROM comboio_done") == MESSAGES
    assert system.number("SELECT count(*) FROM comboio_dead") == 0
    assert system.number("SELECT sum(duplicates) FROM comboio_dedup") >= COPIES
