"""The clock asks providers about effects in doubt: when due, once, outside any transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import Any

import pytest

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.engine import probing, registry
from monitor.maintenance import clock, reconcile
from monitor.maintenance.chores import LONG_CHORES, LongChore, run_once
from monitor.store import connections
from tests import factories, factory_effects
from tests.engine import delivery, drain_all, send
from tests.outside import Provider, charged, charging, drain_until_quiet
from tests.racing import race
from tests.rows import one, rows, run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def _asking(probe: Any, *, due: int = 1) -> Iterator[list[int]]:
    """So many effects in doubt that are due, of a consumer whose provider is asked by this."""
    owner = factories.consumer(name="test.charge")
    charge = Effect(name="charge", call=probe, kind="queryable", reconcile=probe)
    declared = Consumer(
        name="test.charge", source="test", handler=probe, external=True, effects=(charge,)
    )
    with ExitStack() as stack:
        registry.add(declared)
        stack.callback(registry.remove, declared.name)
        numbers = [factory_effects.in_doubt(owner, session=f"s{n}")[1] for n in range(due)]
        run("UPDATE comboio_effect SET probe_at = clock_timestamp()")
        yield numbers


def _cannot_tell(_call: Call) -> Evidence:
    return Evidence(told=Told.CANNOT_TELL)


def test_a_call_without_an_answer_is_settled_without_a_person_and_never_repeated() -> None:
    provider = Provider(TimeoutError("no answer"))
    charge = Effect(
        name="charge", call=provider, kind="neither", reconcile=provider.ask, settle_seconds=0
    )
    with charging(charge):
        send(delivery("a"))
        drain_all()
        assert one("SELECT count(*) FROM comboio_in_doubt") == 1
        assert run_once(LONG_CHORES[0]) == 0  # not due yet
        run("UPDATE comboio_effect SET probe_at = clock_timestamp()")
        assert run_once(LONG_CHORES[0]) == 1
        drain_until_quiet()
    assert (len(provider.calls), len(provider.ledger), charged()) == (1, 1, 1)
    assert one("SELECT decided_by FROM comboio_effect") == "probe"
    assert rows("SELECT state FROM comboio_alert") == [("resolved",)]


def test_what_was_not_done_is_called_again_with_the_same_key() -> None:
    provider = Provider(TimeoutError("no answer"), acts=False)
    charge = Effect(
        name="charge", call=provider, kind="neither", reconcile=provider.ask, settle_seconds=0
    )
    with charging(charge):
        send(delivery("a"))
        drain_all()
        run("UPDATE comboio_effect SET probe_at = clock_timestamp()")
        assert reconcile.run() == 1
        drain_until_quiet()
    assert len({call.key for call in provider.calls}) == 1
    assert (len(provider.calls), len(provider.ledger), charged()) == (2, 1, 1)


def test_it_asks_at_2_4_8_seconds_and_so_on_up_to_300() -> None:
    waits: list[float] = []
    left = "probe_at - clock_timestamp()"
    with _asking(_cannot_tell):
        for _ in range(11):
            run("UPDATE comboio_effect SET probe_at = clock_timestamp()")
            assert reconcile.run() == 1
            waits.append(one(f"SELECT extract(epoch FROM {left})::float FROM comboio_effect"))
    wanted = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert [round(wait + 0.5) for wait in waits] == wanted, waits
    assert one("SELECT probes FROM comboio_effect") == 11
    assert one("SELECT count(*) FROM comboio_evidence WHERE source = 'probe'") == 11


def test_two_clocks_never_ask_about_the_same_effect() -> None:
    asked: list[str] = []

    def ask(call: Call) -> Evidence:
        asked.append(call.key)
        return Evidence(told=Told.DONE)

    with _asking(ask, due=15):
        counts = race(reconcile.run, reconcile.run, reconcile.run)
    assert sum(counts) == 15, counts
    assert len(asked) == len(set(asked)) == 15
    assert rows("SELECT state, count(*) FROM comboio_effect GROUP BY 1") == [("completed", 15)]


def test_no_transaction_is_open_while_the_provider_thinks() -> None:
    locked: list[int] = []

    def ask(_call: Call) -> Evidence:
        with connections.connect() as other:
            other.execute("SELECT FROM comboio_lane FOR UPDATE NOWAIT")
            other.execute("SELECT FROM comboio_effect FOR UPDATE NOWAIT")
            locked.append(1)
        return Evidence(told=Told.DONE)

    with _asking(ask):
        assert reconcile.run() == 1
    assert locked == [1]


def test_a_provider_that_hangs_does_not_hide_what_the_others_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probing, "PROBE_SECONDS", 0.3)
    is_over = Event()
    hanging: list[str] = []

    def ask(call: Call) -> Evidence:
        if not hanging:
            hanging.append(call.key)
            is_over.wait(20)
        return Evidence(told=Told.DONE)

    with _asking(ask, due=3):
        assert reconcile.run() == 3
        states = dict(rows("SELECT state, count(*) FROM comboio_effect GROUP BY 1"))
        is_over.set()
    assert states == {"in doubt": 1, "completed": 2}
    assert rows(
        "SELECT detail->>'error' FROM comboio_evidence WHERE verdict = 'cannot tell'"
        " AND source = 'probe'"
    ) == [("No answer within 0.3 s.",)]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "returned NoneType, not Evidence"),
        (Evidence(told=Told.DONE, result={1, 2}), "TypeError"),
        (Evidence(told=Told.DONE, result=float("nan")), "ValueError"),
        (Evidence(told=Told.DONE, detail={"page": "a\x00"}), "NUL"),
        (Evidence(told=Told.DONE, reference="a\x00"), "NUL"),
        (Evidence(told=Told.DONE, detail={"page": "a\ud800"}), "UnicodeEncodeError"),
        (Evidence(told=Told.DONE, reference=7), "reference= as text"),  # type: ignore[arg-type]
        (Evidence(told=Told.DONE, detail={"page": "x" * 20_000}), "at most 16384"),
    ],
)
def test_an_answer_that_cannot_be_kept_tells_nothing(answer: Any, text: str) -> None:
    with _asking(lambda _call: answer):
        reconcile.run()
    assert one("SELECT state FROM comboio_effect") == "in doubt"
    assert text in one("SELECT detail->>'error' FROM comboio_evidence WHERE source = 'probe'")


def test_what_this_process_cannot_ask_about_is_left_to_others() -> None:
    factory_effects.in_doubt(factories.consumer())
    run("UPDATE comboio_effect SET probe_at = clock_timestamp()")
    with _asking(_cannot_tell, due=0):
        assert reconcile.run() == 0
    assert one("SELECT probes FROM comboio_effect") == 0


def test_an_answer_for_a_busy_session_is_asked_for_again_and_the_others_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconcile, "LOCK_SECONDS", 0.05)
    with (
        _asking(lambda _call: Evidence(told=Told.DONE), due=3) as numbers,
        connections.connect() as other,
    ):
        other.execute(
            "SELECT FROM comboio_lane WHERE lane = (SELECT lane FROM comboio_in_doubt"
            " WHERE effect_id = %s) FOR UPDATE",
            [numbers[0]],
        )
        assert reconcile.run() == 3
        states = [row[0] for row in rows("SELECT state FROM comboio_effect ORDER BY id")]
        other.rollback()
        run("UPDATE comboio_effect SET probe_at = clock_timestamp() WHERE state = 'in doubt'")
        assert reconcile.run() == 1
    assert states == ["in doubt", "completed", "completed"]
    assert rows("SELECT DISTINCT state FROM comboio_effect") == [("completed",)]


def test_the_clock_process_asks_beside_its_chores_and_stops_with_them() -> None:
    stop = Event()
    with _asking(lambda _call: Evidence(told=Told.DONE)):
        thread = Thread(target=clock.run_all, args=(stop,))
        thread.start()
        wait_until(lambda: one("SELECT state FROM comboio_effect") == "completed", 15)
        stop.set()
        thread.join(10)
    assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_clock_whose_long_chores_fail_for_good_ends_so_that_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("out of threads")

    monkeypatch.setattr(clock, "LONG_CHORES", (LongChore(name="x", every_seconds=1.0, run=fail),))
    stop = Event()
    clock.run_all(stop)
    assert stop.is_set()
