"""The payments through the real inbox: what their handlers are promised, and what they promise."""

from __future__ import annotations

from typing import Any

import pytest

from examples.payments.models import Account, LedgerEntry, Notice, Receipt
from monitor.domain.states import State, Verdict
from monitor.testing import Inbox

APPLY, PAYOUT = "payments.apply", "payments.payout"


def _payment(sequence: int, cents: int = 250, **more: Any) -> dict[str, Any]:
    return {
        "id": f"p{sequence}",
        "type": "payment",
        "account": "A",
        "sequence": sequence,
        "amount_cents": cents,
        **more,
    }


def _charge(by: str) -> dict[str, Any]:
    return _payment(1, 500, id="c1", type="charge", by=by)


def _entries() -> list[int]:
    return list(LedgerEntry.objects.order_by("id").values_list("amount_cents", flat=True))


def test_a_payment_delivered_three_times_is_booked_once(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1), times=3)
    inbox.run()
    (again,) = inbox.deliver("payments", _payment(1))
    inbox.run()
    assert again.verdict is Verdict.DUPLICATE
    assert inbox.result("p1") == {"ledger_entry": LedgerEntry.objects.get().id}
    assert Account.objects.get(number="A").balance_cents == 250


def test_a_worker_killed_before_the_commit_leaves_balance_and_ledger_equal(inbox: Inbox) -> None:
    for sequence in (1, 2, 3):
        inbox.deliver("payments", _payment(sequence, 100 * sequence))
    inbox.crash_before_commit("p2")
    inbox.run()
    assert _entries() == [100, 200, 300]
    assert Account.objects.get(number="A").balance_cents == 600


def test_another_amount_under_the_same_id_is_never_booked(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1, 250))
    (second,) = inbox.deliver("payments", _payment(1, 9_999))
    inbox.run()
    assert second.verdict is Verdict.MISMATCH
    assert _entries() == [250]


def test_a_silent_clearing_house_holds_the_account_in_its_order(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1, 100, fail_times=2))
    inbox.deliver("payments", _payment(2, 200))
    inbox.settle()
    assert _entries() == [100, 200]
    assert inbox.starts("p1") >= 3


def test_a_payment_of_nothing_is_dead_and_the_next_is_booked(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1, 0))
    inbox.deliver("payments", _payment(2, 200))
    inbox.settle()
    (dead,) = inbox.dead()
    assert (dead.key, dead.reason) == ("p1", "poison")
    assert _entries() == [200]


def test_a_dead_payout_holds_its_account_until_a_person_decides(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1, -5, type="payout"))
    inbox.deliver("payments", _payment(2, 200, type="payout"))
    inbox.settle()
    assert [each.key for each in inbox.dead(consumer=PAYOUT)] == ["p1"]
    assert (inbox.state("p2"), _entries()) == (State.READY, [])


def test_the_customer_is_told_though_the_booking_died(inbox: Inbox) -> None:
    inbox.deliver("payments", _payment(1, 0, type="payment.large"))
    inbox.settle()
    assert [each.consumer for each in inbox.dead()] == [APPLY]
    assert Notice.objects.get().message_key == "p1"


@pytest.mark.parametrize("crash", ["crash_before_effect", "crash_after_effect"])
@pytest.mark.parametrize("by", ["card", "bank"])
def test_a_worker_killed_round_the_call_charges_nobody_twice(
    inbox: Inbox, by: str, crash: str
) -> None:
    provider = inbox.provider(by, result=lambda call: {"id": f"ch_{call.request['amount_cents']}"})
    inbox.deliver("payments", _charge(by), times=3)
    getattr(inbox, crash)(by)
    inbox.settle()
    assert inbox.state("c1") is State.DONE
    assert len(provider.ledger) == 1
    assert Receipt.objects.get().provider_id == "ch_500"


def test_a_voucher_without_an_answer_waits_for_a_person(inbox: Inbox) -> None:
    provider = inbox.provider("voucher")
    inbox.deliver("payments", _charge("voucher"))
    inbox.crash_after_effect("voucher")
    inbox.settle()
    assert inbox.state("c1") is State.IN_DOUBT
    (effect,) = inbox.effects("c1")
    assert (effect.state, len(provider.calls)) == ("in doubt", 1)
    assert not Receipt.objects.exists()
