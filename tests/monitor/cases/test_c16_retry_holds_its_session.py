"""C16: the retry of one message must not let the next one of its session pass."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group

from monitor.domain.message import Message
from monitor.domain.retry import Retry
from monitor.testing import Inbox
from tests.engine import consuming, delivery, send
from tests.forked import drain_for_ever, note, noted
from tests.forking import forking
from tests.rows import one, rows
from tests.waiting import wait_until

WORKERS, MESSAGES, FAILURES = 4, 10, 2
PATIENT = Retry(limit=5, base_seconds=3600, cap_seconds=3600)
IN_ORDER = [f"m{n}" for n in range(1, MESSAGES + 1)]


def work(folder: Path, *, external: bool) -> None:
    """One of several workers; m5 of s1 fails twice."""

    def handle(_payload: Any, message: Message) -> None:
        note(folder / "starts", f"{message.session} {message.key}")
        if message.key == "s1-m5" and message.attempt <= FAILURES:
            raise ValueError(f"attempt {message.attempt}")
        with message.transaction() if external else nullcontext():
            Group.objects.create(name=f"{message.session}/{message.key}")

    with consuming(handle, external=external, retry=PATIENT):
        drain_for_ever()


def _effects(session: str) -> list[str]:
    found = rows(
        "SELECT split_part(name, '/', 2) FROM auth_group"
        " WHERE starts_with(name, %(prefix)s) ORDER BY id",
        prefix=f"{session}/",
    )
    return [name.partition("-")[2] for (name,) in found]


def _failures() -> int:
    return int(one("SELECT count(*) FROM comboio_event WHERE kind = 'failed'"))


def _starts(folder: Path, session: str) -> list[str]:
    lines = [line.split() for line in noted(folder / "starts")]
    return [key.partition("-")[2] for own, key in lines if own == session]


@pytest.mark.parametrize("external", [False, True], ids=["atomic", "external"])
def test_nothing_of_the_session_passes_a_message_that_waits_and_others_go_on(
    inbox: Inbox, tmp_path: Path, external: bool
) -> None:
    with consuming(lambda _payload, _message: None, external=external):
        send(*[delivery(f"{s}-{m}", session=s) for m in IN_ORDER for s in ("s1", "s2")])
    with forking() as start:
        for _ in range(WORKERS):
            start(partial(work, tmp_path, external=external))
        for failed in range(1, FAILURES + 1):
            wait_until(lambda n=failed: _failures() == n, 60, what=f"failure {failed}")
            # Not for its retry, which comes within the hour: the other session needs no time.
            wait_until(lambda: _effects("s2") == IN_ORDER, 20, what="the other session")
            assert _effects("s1") == IN_ORDER[:4]
            assert "m6" not in _starts(tmp_path, "s1")
            inbox.advance(seconds=3600)
        wait_until(lambda: len(_effects("s1")) == MESSAGES, 20, what="the session")
        wait_until(lambda: one("SELECT count(*) FROM comboio_gate") == 0, what="no gate")
    assert _effects("s1") == IN_ORDER
    starts = _starts(tmp_path, "s1")
    assert starts.index("m6") > max(at for at, key in enumerate(starts) if key == "m5")
    attempts = dict(
        rows("SELECT m.key, d.attempts FROM comboio_done d JOIN comboio_message m USING (id)")
    )
    assert attempts.pop("s1-m5") == FAILURES + 1
    assert list(attempts.values()) == [1] * (2 * MESSAGES - 1)
