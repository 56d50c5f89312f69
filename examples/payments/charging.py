"""The three ways to charge a customer, each through a provider of another kind."""

from __future__ import annotations

import os
from functools import partial

from monitor import http_effect

# Where the provider listens; `up --demo` starts one and sets it.
PROVIDER_URL = "DEMO_PROVIDER_URL"


def _at(path: str) -> str:
    """An address at the provider, read when it is needed: it stands in the environment."""
    return os.environ[PROVIDER_URL] + path


# It can be asked: after a call without an answer we look the charge up.
card = http_effect(
    "card",
    partial(_at, "/queryable/charges"),
    ask=partial(_at, "/queryable/charges/{key}"),
    kind="queryable",
    settle_seconds=2,
    timeout_seconds=5,
)
# It de-duplicates by our key: after a call without an answer we call again.
bank = http_effect("bank", partial(_at, "/keyed/charges"), kind="keyed", timeout_seconds=5)
# Neither: after a call without an answer only a person can find out.
voucher = http_effect(
    "voucher", partial(_at, "/neither/charges"), kind="neither", timeout_seconds=5
)
