"""C19: what its sender delays holds nobody; what waits for its retry holds its session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from monitor.domain.message import Message
from monitor.domain.retry import Retry
from monitor.maintenance.chores import CHORES, run_once
from tests.dashboard.conftest import user
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

AN_HOUR = Retry(limit=3, base_seconds=3600, cap_seconds=3600)
BY_NAME = {chore.name: chore for chore in CHORES}


def test_a_delayed_message_holds_nobody_and_a_waiting_retry_holds_its_session() -> None:
    def work(payload: Any, message: Message) -> None:
        if payload.get("fails") and message.attempt == 1:
            raise ValueError("once")
        Group.objects.create(name=f"ran/{message.key}")

    later = datetime.now(UTC) + timedelta(hours=1)
    with consuming(work, retry=AN_HOUR):
        send(
            delivery("s1-m1", session="s1", not_before=later),
            delivery("s1-m2", session="s1"),
            delivery("s2-m1", {"fails": True}, session="s2"),
            delivery("s2-m2", session="s2"),
        )
        drain_all()
        assert _ran() == ["s1-m2"]
        _pages_say_why()
        run("UPDATE comboio_waiting SET due_at = now()")
        run("UPDATE comboio_gate SET retry_at = now()")
        run_once(BY_NAME["release due"])
        drain_all()
    ran = _ran()
    assert sorted(ran[1:]) == ["s1-m1", "s2-m1", "s2-m2"]
    assert ran.index("s2-m1") < ran.index("s2-m2")


def _ran() -> list[str]:
    return [each.name[4:] for each in Group.objects.filter(name__startswith="ran/").order_by("id")]


def _pages_say_why() -> None:
    run_once(BY_NAME["take snapshot"])
    figures = "SELECT delayed, waiting, backlog FROM comboio_consumer_snapshot WHERE delayed > 0"
    assert rows(figures) == [(1, 1, 2)], "of the backlog of 2 one waits for its retry"
    client = Client()
    client.force_login(user("victor", "viewer"))
    for session, word in (("s1", "delayed"), ("s2", "next attempt")):
        number = one(f"SELECT id FROM comboio_session WHERE key = '{session}'")
        page = client.get(f"/sessions/{number}/")
        assert page.status_code == 200
        assert word in page.content.decode().lower()
