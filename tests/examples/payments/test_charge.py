"""The charge of the payments example, through the real engine and a real provider on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

import examples.payments.consumers  # noqa: F401 - declares the consumers
from examples.payments.charging import PROVIDER_URL
from examples.payments.models import Receipt
from examples.provider import ledger
from monitor.domain.states import State
from monitor.testing import Inbox


def charge(inbox: Inbox, key: str, by: str, pretend: str = "none", amount: int = 500) -> State:
    """Deliver one charge and run until it stands still."""
    body = {
        "id": key,
        "type": "charge",
        "account": key,
        "sequence": 1,
        "amount_cents": amount,
        "by": by,
        "pretend": pretend,
    }
    inbox.deliver("payments", body)
    inbox.settle()
    return inbox.state(key)


def times(tmp_path: Path) -> list[int]:
    return list(ledger.times_by_key(ledger.read(tmp_path / "ledger")).values())


@pytest.mark.parametrize("by", ["card", "bank", "voucher"])
@pytest.mark.parametrize("pretend", ["none", "unavailable"])
@pytest.mark.usefixtures("provider")
def test_each_way_charges_once_and_keeps_the_receipt(
    inbox: Inbox, tmp_path: Path, by: str, pretend: str
) -> None:
    assert charge(inbox, "c", by, pretend) == State.DONE
    receipt = Receipt.objects.get()
    assert (receipt.account, receipt.amount_cents, receipt.provider_id) == ("c", 500, "ch_1")
    assert inbox.result("c") == {"receipt": receipt.id}
    assert times(tmp_path) == [1]


@pytest.mark.parametrize(
    ("by", "state"),
    [("card", State.DONE), ("bank", State.DONE), ("voucher", State.IN_DOUBT)],
)
@pytest.mark.usefixtures("provider")
def test_a_lost_answer_is_asked_for_called_again_for_or_left_to_a_person(
    inbox: Inbox, tmp_path: Path, by: str, state: State
) -> None:
    assert charge(inbox, "c", by, "drop") == state
    assert times(tmp_path) == [1]
    assert Receipt.objects.count() == (1 if state == State.DONE else 0)


@pytest.mark.usefixtures("provider")
def test_what_the_provider_refuses_is_set_aside_at_once(inbox: Inbox, tmp_path: Path) -> None:
    assert charge(inbox, "c", "card", amount=-1) == State.DEAD
    assert times(tmp_path) == []
    assert not Receipt.objects.exists()


def test_without_a_provider_nothing_is_charged_and_nothing_is_in_doubt(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PROVIDER_URL, raising=False)
    assert charge(inbox, "c", "voucher") == State.DEAD
    (dead,) = inbox.dead("c")
    assert PROVIDER_URL in str(dead)
