from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from examples.payments import consumers
from examples.payments.models import Account, LedgerEntry, Notice
from monitor import DeadLetter, Message
from monitor.domain.payload import PayloadError, read
from monitor.engine import registry

MESSAGE = Message(
    id=1,
    consumer="payments.apply",
    source="payments",
    origin="payments",
    key="p1",
    type="payment",
    session="A",
    sequence=1,
    attempt=1,
    content_type="application/json",
    payload=b"{}",
    headers={},
    received_at=datetime(2026, 1, 1, tzinfo=UTC),
)
PAYMENT = consumers.Payment(account="A", sequence=1, amount_cents=250)

pytestmark = pytest.mark.django_db


def test_a_payment_changes_balance_and_ledger_together() -> None:
    result = consumers.apply_payment(PAYMENT, MESSAGE)
    assert Account.objects.get(number="A").balance_cents == 250
    entry = LedgerEntry.objects.get()
    assert result == {"ledger_entry": entry.id}
    assert (entry.account_id, entry.sequence, entry.amount_cents) == ("A", 1, 250)
    assert (entry.message_key, entry.message_id) == ("p1", 1)


def test_a_payout_lowers_the_balance() -> None:
    consumers.apply_payment(PAYMENT, MESSAGE)
    consumers.pay_out(replace(PAYMENT, amount_cents=100), MESSAGE)
    assert Account.objects.get(number="A").balance_cents == 150
    assert sorted(LedgerEntry.objects.values_list("amount_cents", flat=True)) == [-100, 250]


def test_the_ledger_shows_a_double() -> None:
    for _ in range(2):
        consumers.apply_payment(PAYMENT, MESSAGE)
    assert LedgerEntry.objects.filter(message_key="p1").count() == 2


def test_a_payment_of_nothing_is_set_aside_at_once() -> None:
    with pytest.raises(DeadLetter):
        consumers.apply_payment(replace(PAYMENT, amount_cents=0), MESSAGE)
    assert not LedgerEntry.objects.exists()


def test_a_silent_clearing_house_fails_as_many_attempts_as_the_payment_says() -> None:
    silent_twice = replace(PAYMENT, fail_times=2)
    for attempt in (1, 2):
        with pytest.raises(consumers.ClearingHouseError):
            consumers.apply_payment(silent_twice, replace(MESSAGE, attempt=attempt))
    consumers.apply_payment(silent_twice, replace(MESSAGE, attempt=3))
    assert LedgerEntry.objects.count() == 1


def test_the_customer_is_told_about_a_large_payment() -> None:
    consumers.notify_customer(replace(PAYMENT, amount_cents=123_456), MESSAGE)
    assert Notice.objects.get().text == "You received 1234.56."


def test_an_amount_in_words_does_not_fit_the_payload() -> None:
    body = {"account": "A", "sequence": 1, "amount_cents": "twelve"}
    with pytest.raises(PayloadError, match="amount_cents"):
        read(consumers.Payment, body)


def test_only_a_payout_holds_its_account_when_it_dies() -> None:
    policies = {each.name: each.when_dead for each in registry.all_consumers()}
    assert policies["payments.payout"] == "hold"
    assert policies["payments.apply"] == policies["payments.notify"] == "skip"
