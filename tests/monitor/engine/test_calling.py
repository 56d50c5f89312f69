"""Effects are known before they are made, and made again only where that is safe."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from monitor.domain.effect import Effect, EffectRefused, Evidence, NotDone, Told
from monitor.domain.retry import Retry
from monitor.engine import calling, verdict
from monitor.engine.verdict import Settled
from monitor.store import connections
from tests.engine import delivery, drain_all, send
from tests.outside import Provider, charged, charging, drain_until_quiet, effect_state
from tests.rows import one, rows, run
from tests.waiting import wait_until
from tests.watching import watched_for

pytestmark = pytest.mark.django_db(transaction=True)

ASKED_TOO_EARLY = (
    "SELECT coalesce(max(retry_at) > now() + interval '50 s', false) FROM comboio_gate"
)


def settle(told: Told, source: str = "person", **more: Any) -> Settled:
    """One verdict about the only effect, in a transaction of its own."""
    with transaction.atomic():
        cursor = connections.shared_cursor()
        number = one("SELECT id FROM comboio_effect")
        return verdict.settle(cursor, number, Evidence(told=told), source=source, **more).kind


def test_an_effect_is_recorded_called_once_and_its_message_done_with_the_result() -> None:
    provider = Provider()
    with charging(Effect(name="charge", call=provider)):
        send(delivery("a"))
        assert drain_all() == 1
    assert len(provider.ledger) == charged() == 1
    assert effect_state() == ("completed", "answered")
    assert rows("SELECT result->>'charge' = %(key)s FROM comboio_done", key=provider.ledger[0]) == [
        (True,)
    ]
    assert one("SELECT count(*) FROM comboio_lease") == 0


def test_a_call_that_certainly_did_nothing_is_made_again_with_the_same_key() -> None:
    provider = Provider(NotDone("503"), NotDone("503"))
    with charging(Effect(name="charge", call=provider, kind="neither")):
        send(delivery("a"))
        drain_until_quiet()
    assert len({call.key for call in provider.calls}) == 1
    assert len(provider.calls) == 3
    assert len(provider.ledger) == charged() == 1


def test_a_keyed_provider_is_called_again_with_the_same_key_after_an_unknown_outcome() -> None:
    provider = Provider(TimeoutError("no answer"))
    with charging(Effect(name="charge", call=provider, kind="keyed")):
        send(delivery("a"))
        drain_until_quiet()
    assert [call.key for call in provider.calls] == provider.ledger * 2
    assert charged() == 1


def test_a_queryable_provider_is_asked_before_it_is_called_again() -> None:
    provider = Provider(TimeoutError("no answer"))
    effect = Effect(
        name="charge", call=provider, kind="queryable", reconcile=provider.ask, settle_seconds=0
    )
    with charging(effect):
        send(delivery("a"))
        drain_until_quiet()
    assert len(provider.calls) == len(provider.ledger) == charged() == 1
    assert effect_state() == ("completed", "asked")


def test_not_done_within_the_settle_time_proves_nothing_and_after_it_calls_again() -> None:
    provider = Provider(TimeoutError("no answer"), acts=False)
    effect = Effect(
        name="charge", call=provider, kind="queryable", reconcile=provider.ask, settle_seconds=60
    )
    with charging(effect, retry=Retry(limit=9, base_seconds=0.001, cap_seconds=0.001)):
        send(delivery("a"))
        wait_until(lambda: drain_all() == 0 and one(ASKED_TOO_EARLY), 10)
        assert len(provider.calls) == 1
        _go_back(61)
        with watched_for(62):
            drain_until_quiet()
    assert len(provider.calls) == 2
    assert len(provider.ledger) == charged() == 1


@pytest.mark.parametrize(
    ("pauses", "records", "made"),
    [((0.0,), 1, 1), ((40.0, 0.0), 2, 1), ((40.0, 40.0, 40.0), 3, 0)],
)
def test_a_worker_that_stood_still_behind_the_record_of_a_call_records_it_anew(
    monkeypatch: pytest.MonkeyPatch, pauses: tuple[float, ...], records: int, made: int
) -> None:
    provider = Provider()
    effect = Effect(
        name="charge", call=provider, kind="queryable", reconcile=provider.ask, settle_seconds=60
    )
    looks = iter([look for pause in pauses for look in (0.0, pause)])
    monkeypatch.setattr(calling, "monotonic", lambda: next(looks))
    with charging(effect):
        send(delivery("a"))
        drain_all()
    assert one("SELECT calls FROM comboio_effect") == records
    assert len(provider.calls) == len(provider.ledger) == charged() == made


@pytest.mark.parametrize(
    ("watched", "stepped", "seconds_ago"), [(62, 61, 61), (0.5, 0, 3600), (30, 0, -3600)]
)
def test_seconds_that_a_step_of_the_clock_skipped_do_not_count_as_settle_time(
    watched: float, stepped: float, seconds_ago: float
) -> None:
    provider = Provider(TimeoutError("no answer"), acts=False)
    effect = Effect(
        name="charge", call=provider, kind="queryable", reconcile=provider.ask, settle_seconds=60
    )
    with charging(effect, retry=Retry(limit=9, base_seconds=0.001, cap_seconds=0.001)):
        send(delivery("a"))
        wait_until(lambda: drain_all() == 0 and one(ASKED_TOO_EARLY), 10)
        _go_back(seconds_ago)
        with watched_for(watched, stepped=stepped):
            drain_all()
    assert len(provider.calls) == 1
    assert one("SELECT retry_at - now() BETWEEN '25 seconds' AND '61 seconds' FROM comboio_gate")


def _go_back(seconds: float) -> None:
    run("UPDATE comboio_effect SET called_at = called_at - make_interval(secs => %(s)s)", s=seconds)
    run("UPDATE comboio_gate SET retry_at = now()")


def test_an_unknown_outcome_of_a_provider_that_can_do_neither_waits_for_a_person() -> None:
    provider = Provider(TimeoutError("no answer"))
    with charging(Effect(name="charge", call=provider, kind="neither")):
        send(delivery("a", session="s"), delivery("b", session="s"))
        drain_until_quiet()
        assert one("SELECT state FROM comboio_message_state ORDER BY id LIMIT 1") == "in_doubt"
        assert rows("SELECT kind FROM comboio_alert") == [("effect in doubt",)]
        assert len(provider.calls) == 1  # its follower is parked behind it
        assert settle(Told.DONE, actor="anna") == Settled.SETTLED
        drain_until_quiet()
    assert len(provider.ledger) == charged() == 2
    assert one("SELECT count(*) FROM comboio_alert WHERE state <> 'resolved'") == 0


def test_a_person_who_says_not_done_has_it_called_again_with_the_same_key() -> None:
    provider = Provider(TimeoutError("no answer"), acts=False)
    with charging(Effect(name="charge", call=provider, kind="neither")):
        send(delivery("a"))
        drain_all()
        assert settle(Told.NOT_DONE, actor="anna") == Settled.SETTLED
        drain_until_quiet()
    assert len({call.key for call in provider.calls}) == 1
    assert len(provider.ledger) == charged() == 1


def test_evidence_against_a_decision_is_a_conflict_and_blocks() -> None:
    provider = Provider(TimeoutError("no answer"), acts=False)
    with charging(Effect(name="charge", call=provider, kind="neither")):
        send(delivery("a"))
        drain_all()
        settle(Told.NOT_DONE, actor="anna")
        assert settle(Told.DONE, source="callback") == Settled.CONFLICT
        drain_until_quiet()
        assert len(provider.calls) == 1
        assert one("SELECT state FROM comboio_message_state") == "in_doubt"
        assert "anna" in one("SELECT conflict FROM comboio_effect")
        assert settle(Told.DONE, actor="bert") == Settled.SETTLED
        drain_until_quiet()
    assert len(provider.calls) == charged() == 1


def test_a_refusal_of_the_provider_is_final() -> None:
    provider = Provider(EffectRefused("card stolen"))
    with charging(Effect(name="charge", call=provider)):
        send(delivery("a"))
        drain_until_quiet()
    assert effect_state() == ("failed", "refused")
    assert rows("SELECT reason FROM comboio_dead") == [("poison",)]
    assert len(provider.calls) == 1


def test_past_the_key_window_a_keyed_provider_is_not_called_by_itself() -> None:
    provider = Provider(TimeoutError("no answer"))
    with charging(Effect(name="charge", call=provider), retry=Retry(base_seconds=300)):
        send(delivery("a"))
        drain_all()
        run("UPDATE comboio_effect SET key_until = now() - interval '1 second'")
        run("UPDATE comboio_gate SET retry_at = now()")
        drain_until_quiet()
    assert len(provider.calls) == 1
    assert effect_state()[0] == "in doubt"


def test_another_request_under_the_same_effect_is_refused_in_words() -> None:
    requests = iter([{"cents": 5}, {"cents": 6}])
    provider = Provider(TimeoutError("no answer"))

    def charge(_payload: Any, message: Any) -> None:
        message.effect("charge", next(requests))

    with charging(Effect(name="charge", call=provider), charge):
        send(delivery("a"))
        drain_until_quiet()
    assert len(provider.calls) == 1
    assert (
        one("SELECT count(*) FROM comboio_in_doubt") + one("SELECT count(*) FROM comboio_dead") == 1
    )
