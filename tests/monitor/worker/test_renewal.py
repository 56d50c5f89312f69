"""Leases are renewed whatever becomes of the answer to a COMMIT."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from monitor.worker.board import Board
from monitor.worker.renewal import Renewal
from tests import factories, factory_effects
from tests.hanging import hang, proxied
from tests.rows import one
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LEASE_SECONDS = 1.5


def renewals() -> int:
    return int(one("SELECT renewals FROM comboio_lease"))


def test_an_answer_that_never_comes_costs_no_lease() -> None:
    message = factories.message(factories.consumer(), session="s")
    fence = factory_effects.lease(message, seconds_left=20.0, renewals=0)
    board, stop = Board(), Event()
    board.runs(0, message, 0.0, fence, LEASE_SECONDS)
    with proxied() as proxy:
        renewing = Thread(target=Renewal(board, stop).run)
        renewing.start()
        try:
            hang(proxy)
            before = renewals()
            wait_until(lambda: renewals() > before, 20, what="a renewal after the silence")
        finally:
            stop.set()
            renewing.join(30)
    assert not renewing.is_alive()
