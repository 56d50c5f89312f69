"""The clock goes on when the database never answers its COMMIT."""

from __future__ import annotations

from threading import Event, Thread

import pytest
from django.db import connection

from monitor.maintenance import clock, patience
from monitor.maintenance.chores import CHORES
from monitor.store import rollup
from tests.hanging import hang, proxied
from tests.rows import one
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def count() -> None:
    """A delta, which the clock folds."""
    with connection.cursor() as cursor:
        rollup.add(cursor, [(1, "received", "new", 1.0)])


def test_an_answer_that_never_comes_does_not_end_the_chores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patience, "SECONDS", 1.0)
    folds = [chore for chore in CHORES if chore.name == "fold counters"]
    count()  # Opens this test's own connection, straight to the server.
    stop = Event()
    with proxied() as proxy:
        ticking = Thread(target=clock.run, args=(stop, folds))
        ticking.start()
        try:
            hang(proxy)
            count()
            wait_until(
                lambda: one("SELECT count(*) FROM comboio_rollup_delta") == 0,
                30,
                what="folded counters after the silence",
            )
        finally:
            stop.set()
            ticking.join(30)
    assert not ticking.is_alive()
