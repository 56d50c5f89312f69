"""A batch keeps its order within a session, also when a copy of one of its messages is faster."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from monitor.domain import keys
from monitor.domain.message import Receipt
from monitor.engine import directory, ingest
from monitor.store import connections
from tests.activity import BLOCKED
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def _by_dedup_key(count: int) -> list[str]:
    """Names in the order in which the inbox locks them."""
    names = [f"k{n}" for n in range(count)]
    return sorted(names, key=lambda name: keys.dedup_key("test", name))


@pytest.mark.parametrize("has_session", [True, False])
def test_what_stands_behind_a_message_that_lost_to_its_copy_still_runs_behind_it(
    *, has_session: bool
) -> None:
    ran: list[str] = []
    lowest, first, second, third = _by_dedup_key(4)
    session = {"session": "s"} if has_session else {}

    def send_batch() -> list[list[Receipt]]:
        try:
            return send(*(delivery(key, **session) for key in (lowest, first, second, third)))
        finally:
            connection.close()

    with consuming(lambda _payload, message: ran.append(message.key)), _other() as other:
        send(delivery("warm-up", **session))
        ingest.accept(other.cursor(), [delivery(lowest, **session)])
        with ThreadPoolExecutor(1) as pool:
            batch = pool.submit(send_batch)
            wait_until(lambda: one(BLOCKED), 20, what="the batch behind the lowest key")
            send(delivery(first, **session))  # its id is above those that the batch has drawn
            other.commit()
            receipts = batch.result(20)
        directory.forget()
        drain_all()
        ((again,),) = send(delivery(third, **session))
    assert [receipt.verdict for (receipt,) in receipts] == ["duplicate", "duplicate", "new", "new"]
    ids = dict(rows("SELECT key, id FROM comboio_message"))
    assert [receipt.message_id for (receipt,) in receipts] == [
        ids[each] for each in (lowest, first, second, third)
    ]
    if has_session:
        assert ran[1:] == [lowest, first, second, third]
    assert one("SELECT count(*) FROM comboio_done") == 5
    linked = "SELECT count(*) FROM comboio_dedup d JOIN comboio_message m ON m.id = d.message_id"
    assert one(linked) == 5
    assert again.message_id == ids[third]


def _other() -> Any:
    return connections.connect()
