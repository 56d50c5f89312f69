"""The payments example as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    """Accounts, their ledger, and the consumers that book into it."""

    name = "examples.payments"
    label = "payments"
