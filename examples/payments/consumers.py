"""Consumers of the source `payments`: booking, telling the customer, paying out, charging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import F

from examples.payments.charging import bank, card, voucher
from examples.payments.models import Account, LedgerEntry, Notice, Receipt
from monitor import DeadLetter, Message, Retry, consumer

# Short waits, so that a demo of half a minute shows retries to their end.
SHORT_WAITS = Retry(limit=5, base_seconds=0.05, cap_seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """The body of a payment. A body that does not fit is set aside at once, without retries."""

    account: str
    sequence: int
    amount_cents: int
    fail_times: int = 0  # so many attempts find the clearing house silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The body of a charge, and by which of the three ways the customer pays."""

    account: str
    sequence: int
    amount_cents: int
    by: Literal["card", "bank", "voucher"] = "card"
    pretend: str = "none"  # what shall go wrong at the provider of the demo, the first time


class ClearingHouseError(Exception):
    """The clearing house did not answer; the next attempt may well succeed."""


@consumer(
    "payments.apply",
    source="payments",
    types=("payment", "payment.large"),
    session="account",
    retry=SHORT_WAITS,
)
def apply_payment(payment: Payment, message: Message) -> dict[str, int]:
    """Book a payment: balance and ledger change together, once, in the order of the account."""
    _ask_clearing_house(payment, message)
    if payment.amount_cents == 0:
        raise DeadLetter("A payment of nothing cannot be booked.")
    return _book(payment, message, amount_cents=payment.amount_cents)


@consumer(
    "payments.notify",
    source="payments",
    types=("payment.large",),
    session="account",
    retry=SHORT_WAITS,
)
def notify_customer(payment: Payment, message: Message) -> None:
    """Tell the customer about a large payment; independent of whether it could be booked."""
    Notice.objects.create(
        account=payment.account,
        sequence=payment.sequence,
        text=f"You received {payment.amount_cents / 100:.2f}.",
        message_key=message.key,
        message_id=message.id,
    )


@consumer(
    "payments.payout",
    source="payments",
    types=("payout",),
    session="account",
    when_dead="hold",
    retry=SHORT_WAITS,
)
def pay_out(payment: Payment, message: Message) -> dict[str, int]:
    """Book a payout. One that cannot be booked holds its account until a person decides."""
    _ask_clearing_house(payment, message)
    if payment.amount_cents <= 0:
        raise DeadLetter("A payout must be above nothing.")
    return _book(payment, message, amount_cents=-payment.amount_cents)


@consumer(
    "payments.charge",
    source="payments",
    types=("charge",),
    session="account",
    external=True,
    lease_seconds=10,
    effects=(card, bank, voucher),
    retry=SHORT_WAITS,
)
def charge_customer(charge: Charge, message: Message) -> None:
    """Charge through the provider, then keep its receipt: first the outside, then our tables."""
    request = {"amount_cents": charge.amount_cents, "pretend": charge.pretend}
    answer = message.effect(charge.by, request)
    with message.transaction() as commit:
        receipt = Receipt.objects.create(
            account=charge.account,
            sequence=charge.sequence,
            amount_cents=charge.amount_cents,
            # A person who settled it may have had no more than the word of the provider.
            provider_id=answer["id"] if answer else "",
            message_key=message.key,
            message_id=message.id,
        )
        commit.result = {"receipt": receipt.id}


def _ask_clearing_house(payment: Payment, message: Message) -> None:
    if message.attempt <= payment.fail_times:
        raise ClearingHouseError("The clearing house did not answer.")


def _book(payment: Payment, message: Message, *, amount_cents: int) -> dict[str, int]:
    """Change the account and its ledger; what is returned is told to duplicates that ask."""
    account = Account.objects.filter(number=payment.account)
    if not account.update(balance_cents=F("balance_cents") + amount_cents):
        Account.objects.create(number=payment.account, balance_cents=amount_cents)
    entry = LedgerEntry.objects.create(
        account_id=payment.account,
        sequence=payment.sequence,
        amount_cents=amount_cents,
        message_key=message.key,
        message_id=message.id,
    )
    return {"ledger_entry": entry.id}
