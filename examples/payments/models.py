"""Accounts, their ledger, the notices about large payments, and receipts of charges.

No table is unique on the message: if a message took effect twice, two rows would show it.
"""

from __future__ import annotations

from django.db import models


class Account(models.Model):
    """A customer's account and what is on it."""

    number = models.CharField(max_length=64, primary_key=True)
    balance_cents = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.number}: {self.balance_cents / 100:.2f}"


class LedgerEntry(models.Model):
    """One booking; payouts are negative. The rows of an account stand in the order of booking."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="entries")
    sequence = models.BigIntegerField()
    amount_cents = models.BigIntegerField()
    message_key = models.CharField(max_length=512, db_index=True)
    message_id = models.BigIntegerField()
    booked_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.account_id} no. {self.sequence}: {self.amount_cents / 100:+.2f}"


class Notice(models.Model):
    """What the customer is told about a large payment."""

    account = models.CharField(max_length=64)
    sequence = models.BigIntegerField()
    text = models.CharField(max_length=200)
    message_key = models.CharField(max_length=512, db_index=True)
    message_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account}: {self.text}"


class Receipt(models.Model):
    """A charge that the provider made, as it told us."""

    account = models.CharField(max_length=64)
    sequence = models.BigIntegerField()
    amount_cents = models.BigIntegerField()
    provider_id = models.CharField(max_length=64, blank=True)
    message_key = models.CharField(max_length=512, db_index=True)
    message_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account} no. {self.sequence}: {self.provider_id}"
