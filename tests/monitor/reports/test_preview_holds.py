"""What a preview told is what the engine then runs, in that order."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.actor import SYSTEM
from monitor.domain.errors import DeadLetter
from monitor.domain.message import Message
from monitor.domain.order import Numbered
from monitor.domain.retry import Retry
from monitor.operations import messages, skipping
from monitor.reports import preview
from monitor.reports.preview import Preview
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)
SLOW = Retry(limit=9, base_seconds=3600, cap_seconds=3600)
NUMBERED = [None, Numbered()]


def _note(payload: Any, message: Message) -> None:
    tried = Group.objects.filter(name="healed").exists()
    if payload.get("dies") and not tried:
        raise DeadLetter("as it says")
    if payload.get("fails") and not tried:
        raise ValueError("not yet")
    Group.objects.create(name=f"ran/{message.id}")


def _send(*numbers: int, **body: Any) -> None:
    send(*(delivery(f"k{n}", {"n": n, **body}, session="s", sequence=n) for n in numbers))


def _ran() -> list[int]:
    """Since the last time that this was asked."""
    found = Group.objects.filter(name__startswith="ran/").order_by("id")
    ids = [int(each.name[4:]) for each in found]
    found.delete()
    return ids


def _ahead() -> preview.Previews:
    session, consumer = (
        one("SELECT id FROM comboio_session"),
        one("SELECT consumer FROM comboio_session"),
    )
    return preview.of_session(session, consumer)


def _told(found: Preview | None) -> list[int]:
    assert found is not None
    return [each.id for each in found.next]


def _session() -> int:
    return int(one("SELECT id FROM comboio_session"))


def test_after_a_skipped_gap_run_those_that_were_told_and_it_waits_where_told() -> None:
    with consuming(_note, numbered=Numbered()):
        _send(1, 4, 5, 8)
        drain_all()
        _ran()
        found = _ahead().skip_gap
        skipping.skip_gap(SYSTEM, _session(), seen=2, reason="lost")
        drain_all()
        assert _ran() == _told(found)
        assert found is not None
        gap = (
            one("SELECT next FROM comboio_sequence"),
            one("SELECT gap_before FROM comboio_sequence"),
        )
        assert found.gap == gap == (6, 8)


@pytest.mark.parametrize("numbered", NUMBERED, ids=["by arrival", "by number"])
@pytest.mark.parametrize("verb", ["skip", "requeue"])
def test_after_a_dead_head_run_those_that_were_told(verb: str, numbered: Numbered | None) -> None:
    with consuming(_note, numbered=numbered, when_dead="hold"):
        _send(1, dies=True)
        _send(2, 3)
        drain_all()
        assert _ran() == []
        ahead = _ahead()
        if verb == "skip":
            version = one("SELECT version FROM comboio_gate")
            skipping.skip_head(SYSTEM, _session(), seen=version, reason="a test")
        else:
            Group.objects.create(name="healed")
            dead, version = (
                one("SELECT id FROM comboio_dead"),
                one("SELECT version FROM comboio_dead"),
            )
            messages.requeue(SYSTEM, dead, seen=version)
        drain_all()
        told = _told(ahead.skip_head if verb == "skip" else ahead.requeue_head)
        assert _ran() == told
        assert len(told) == (2 if verb == "skip" else 3)


@pytest.mark.parametrize("numbered", NUMBERED, ids=["by arrival", "by number"])
def test_after_a_skipped_retry_run_those_that_were_told(numbered: Numbered | None) -> None:
    with consuming(_note, numbered=numbered, retry=SLOW):
        _send(1, fails=True)
        _send(2, 3)
        drain_all()
        found = _ahead().skip_head
        version = one("SELECT version FROM comboio_gate")
        skipping.skip_head(SYSTEM, _session(), seen=version, reason="a test")
        drain_all()
        assert _ran() == _told(found)
        assert len(_told(found)) == 2


@pytest.mark.parametrize("numbered", NUMBERED, ids=["by arrival", "by number"])
def test_a_message_that_was_told_to_run_late_does(numbered: Numbered | None) -> None:
    with consuming(_note, numbered=numbered, when_dead="skip"):
        _send(1, dies=True)
        _send(2)
        drain_all()
        _ran()
        _send(3)
        dead, version = one("SELECT id FROM comboio_dead"), one("SELECT version FROM comboio_dead")
        owner = one("SELECT consumer FROM comboio_dead")
        found = preview.of_requeue(dead, _session(), owner)
        Group.objects.create(name="healed")
        messages.requeue(SYSTEM, dead, seen=version)
        drain_all()
        assert found is not None
        assert found.is_late
        assert _ran() == _told(found)
