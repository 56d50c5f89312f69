"""A message that kills its worker is found and set aside; its neighbours are not charged."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.engine import consuming, delivery, send
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)

MOST_PROCESSES = 30


def _work(database_url: str, starts: Path) -> int:
    """One worker process; its exit status (-9: it was killed)."""
    environment = {**os.environ, "DATABASE_URL": database_url, "STARTS_FILE": str(starts)}
    command = [sys.executable, "-m", "tests.crashing"]
    return subprocess.run(
        command, env=environment, check=False, timeout=60, stdout=subprocess.DEVNULL
    ).returncode


def _work_until_it_lives(database_url: str, starts: Path) -> int:
    """Start workers until one ends by itself; how many died."""
    for died in range(MOST_PROCESSES):
        if _work(database_url, starts) == 0:
            return died
    raise AssertionError("every worker died")


def test_only_the_killer_goes_dead_after_three_starts_and_its_session_keeps_its_order(
    database_url: str, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    with consuming(lambda _payload, _message: None):
        send(*[delivery(f"m{n}", {"kill": n == 7}, session=f"s{n % 5}") for n in range(20)])
        died = _work_until_it_lives(database_url, starts)
    assert died == 3
    assert rows("SELECT m.key, d.reason FROM comboio_dead d JOIN comboio_message m USING (id)") == [
        ("m7", "crashed worker")
    ]
    assert one("SELECT count(*) FROM comboio_done") == 19
    committed = rows("SELECT name FROM auth_group WHERE name LIKE '%%/%%' ORDER BY id")
    effects = [row[0] for row in committed]
    assert len(effects) == 19
    assert [each for each in effects if each.startswith("s2/")] == ["s2/m2", "s2/m12", "s2/m17"]
    assert Counter(starts.read_text().split())["m7"] == 3
    assert one("SELECT count(*) FROM comboio_gate") == 0
