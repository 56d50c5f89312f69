"""C28: backoff arithmetic, on stored attempts that no short test could reach by failing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from monitor.domain.errors import RetryLater
from monitor.domain.retry import Retry
from monitor.testing.clock import advance
from tests.engine import consuming, delivery, drain_all, send
from tests.racing import race
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

BASE, CAP = 5.0, 1800.0
MANY = 1_100
WORKERS, STEP_SECONDS, INTERVAL_SECONDS, MINUTES = 12, 30, 60, 10


class _Handler:
    """Fails for every message but "fine"; counts its calls."""

    def __init__(self, error: Exception) -> None:
        self.calls: Counter[str] = Counter()
        self._error = error

    def handle(self, _payload: Any, message: Any) -> None:
        self.calls[message.key] += 1
        if message.key != "fine":
            raise self._error


def _stand_at(attempts: int) -> None:
    """As if the message had failed so often, and its next turn were due."""
    run(
        "UPDATE comboio_gate SET attempts = %(attempts)s, retry_at = now() - interval '1 s'",
        attempts=attempts,
    )


@pytest.mark.parametrize("attempts", [1, 17, 62, 1_023, 1_024, MANY - 2])
def test_a_delay_is_never_none_nor_above_the_cap_however_often_it_failed(attempts: int) -> None:
    retry = Retry(limit=MANY, base_seconds=BASE, cap_seconds=CAP)
    with consuming(_Handler(ValueError("x")).handle, retry=retry):
        send(delivery("m", session="s"))
        drain_all()
        _stand_at(attempts)
        drain_all()
    seconds = "extract(epoch FROM retry_at - clock_timestamp())::float8"
    ((left, counted),) = rows(f"SELECT {seconds}, attempts FROM comboio_gate")
    assert counted == attempts + 1
    assert 0 < left <= CAP
    assert one("SELECT (detail->>'delay')::float8 FROM comboio_event ORDER BY id DESC LIMIT 1") > 0


def test_at_the_limit_of_1100_it_is_dead_and_the_others_go_on() -> None:
    retry = Retry(limit=MANY, base_seconds=BASE, cap_seconds=CAP)
    with consuming(_Handler(ValueError("x")).handle, retry=retry):
        send(delivery("m", session="s"))
        drain_all()
        _stand_at(MANY - 1)
        send(delivery("fine"), delivery("behind", session="s"))
        drain_all()
    assert rows("SELECT attempts, reason FROM comboio_dead") == [(MANY, "poison")]
    assert _states() == {"m": "dead", "fine": "done", "behind": "waiting"}


def test_a_row_above_a_lowered_limit_is_dead_at_its_next_turn_and_fetching_goes_on() -> None:
    handler = _Handler(ValueError("x"))
    with consuming(handler.handle, retry=Retry(limit=20, base_seconds=BASE, cap_seconds=CAP)):
        send(delivery("m", session="s"))
        drain_all()
        _stand_at(7)
    before = handler.calls["m"]
    with consuming(handler.handle, retry=Retry(limit=5, base_seconds=BASE, cap_seconds=CAP)):
        send(delivery("fine"), delivery("behind", session="s"))
        drain_all()
    assert handler.calls["m"] - before == 1
    assert rows("SELECT attempts, reason FROM comboio_dead") == [(8, "poison")]
    assert _states() == {"m": "dead", "fine": "done", "behind": "waiting"}


def test_twelve_workers_do_not_divide_the_interval_of_one_failing_message() -> None:
    handler = _Handler(RetryLater(INTERVAL_SECONDS))
    attempts: list[int] = []
    starts: list[int] = []
    with consuming(handler.handle, retry=Retry(limit=1_000)):
        send(delivery("m", session="s"))
        for _ in range(MINUTES * 60 // STEP_SECONDS):
            outcomes = race(*[drain_all] * WORKERS)
            assert [each for each in outcomes if not isinstance(each, int)] == []
            attempts.append(one("SELECT count(*) FROM comboio_event WHERE kind = 'failed'"))
            starts.append(handler.calls["m"])
            advance(STEP_SECONDS)
    assert attempts == [minute for minute in range(1, MINUTES + 1) for _ in range(2)]
    # More starts than attempts only at first: nobody knew yet that it fails, and a batch
    # that fails is done again one by one.
    assert starts[-1] - starts[0] == MINUTES - 1
    assert rows("SELECT key FROM comboio_message JOIN comboio_ready USING (id)") == [("m",)]


def _states() -> dict[str, str]:
    return dict(
        rows("SELECT key, state FROM comboio_message_state JOIN comboio_message USING (id)")
    )
