"""An answer that comes when its caller has lost the lease: heard, and never the last word alone."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

from django.db import connection, transaction

from monitor.domain.effect import (
    Call,
    Effect,
    EffectInDoubtError,
    EffectRefused,
    Evidence,
    NotDone,
    Told,
)
from monitor.domain.retry import Retry
from monitor.engine import verdict
from monitor.store import connections
from monitor.testing import Inbox
from tests.charging import LEASE_SECONDS, PATIENT, charge, charged
from tests.engine import consuming, drain_all
from tests.rows import one, rows

NOT_DONE = Evidence(told=Told.NOT_DONE)
DONE = Evidence(told=Told.DONE, result={"number": 7})


def _unanswered(_call: Call) -> Any:
    raise TimeoutError("no answer")


def _another_worker() -> None:
    """Work in a thread, and so on a connection, of its own."""

    def work() -> None:
        try:
            drain_all()
        finally:
            connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


class Frozen:
    """The first call lasts until its lease is gone and another worker has taken over."""

    def __init__(self, inbox: Inbox, answer: Callable[[], Any], later: Any = None) -> None:
        self.calls = 0
        self._inbox, self._answer, self._later = inbox, answer, later

    def __call__(self, _call: Call) -> Any:
        self.calls += 1
        if self.calls > 1:
            raise self._later
        self._inbox.advance(seconds=LEASE_SECONDS)
        _another_worker()
        return self._answer()


def _consuming(call: Frozen, kind: str) -> Any:
    effect = Effect(
        name="charge",
        call=call,
        kind=kind,
        reconcile=(lambda _call: NOT_DONE) if kind == "queryable" else None,
        settle_seconds=0,
    )
    policy = {"lease_seconds": LEASE_SECONDS, "retry": PATIENT}
    return consuming(charge, external=True, effects=(effect,), **policy)


def _stale() -> int:
    return int(one("SELECT count(*) FROM comboio_rollup_delta WHERE name = 'stale_commits'"))


def test_it_settles_what_the_next_worker_had_put_in_doubt(inbox: Inbox) -> None:
    call = Frozen(inbox, lambda: {"number": 7})
    with _consuming(call, "neither"):
        inbox.deliver("test", {}, key="k")
        inbox.settle()
    assert (inbox.state("k"), inbox.result("k")) == ("done", {"number": 7})
    assert (call.calls, charged(), _stale()) == (1, 1, 1)
    assert rows("SELECT kind, state FROM comboio_alert") == [("effect in doubt", "resolved")]


def test_a_late_refusal_lets_the_message_die_instead_of_waiting_for_ever(inbox: Inbox) -> None:
    def refuse() -> None:
        raise EffectRefused("no such card")

    with _consuming(Frozen(inbox, refuse), "neither"):
        inbox.deliver("test", {}, key="k")
        inbox.settle()
    (dead,) = inbox.dead()
    assert "no such card" in dead.error
    assert inbox.effects()[0].state == "failed"


def test_a_late_not_done_says_nothing_of_the_call_that_is_out_now(inbox: Inbox) -> None:
    def deny() -> None:
        raise NotDone("503")

    call = Frozen(inbox, deny, later=TimeoutError("no answer"))
    with _consuming(call, "queryable"):
        inbox.deliver("test", {}, key="k")
        inbox.run()
        (effect,) = inbox.effects()
    # The second call may have worked: it must be asked for, not simply made again.
    assert (call.calls, effect.last_step) == (2, "no answer")


def test_one_that_comes_while_the_next_worker_finds_it_in_doubt_leaves_nothing_waiting(
    inbox: Inbox,
) -> None:
    """The outcome is told between the look that finds it unknown and the move out of the queue."""
    told: list[str] = []

    def heard(payload: Any, message: Any) -> Any:
        try:
            return charge(payload, message)
        except EffectInDoubtError as error:
            if not told:
                with transaction.atomic():
                    cursor = connections.shared_cursor()
                    verdict.settle(cursor, int(str(error)), DONE, source="call")
                told.append(str(error))
            raise

    effect = Effect(name="charge", call=_unanswered, kind="neither")
    once = Retry(limit=1)  # whatever is known by now, it is no failure of the message
    with consuming(heard, external=True, effects=(effect,), lease_seconds=10, retry=once):
        inbox.deliver("test", {}, key="k")
        inbox.settle()
    assert told
    assert (inbox.state("k"), inbox.result("k")) == ("done", {"number": 7})
    assert one("SELECT count(*) FROM comboio_in_doubt") == 0
