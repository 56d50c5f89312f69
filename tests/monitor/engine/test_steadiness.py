from __future__ import annotations

import os
import struct

import pytest

from monitor.engine.steadiness import Steadiness
from monitor.store import connections


class Host:
    """A machine: real time goes on, and somebody may move its wall clock."""

    def __init__(self) -> None:
        self.gone = 1000.0
        self.wall = 1_800_000_000.0
        self.watch = Steadiness(lambda: self.gone)

    def goes_on(self, seconds: float, *, rate: float = 1.0) -> None:
        self.gone += seconds
        self.wall += seconds * rate

    def vouched(self) -> float:
        return self.watch.see(lambda: self.wall)


def test_who_begins_to_look_can_vouch_for_nothing() -> None:
    assert Host().vouched() == 0.0


def test_an_even_clock_is_vouched_for_since_the_first_look() -> None:
    host = Host()
    host.vouched()
    for _ in range(5):
        host.goes_on(2)
        host.vouched()
    assert host.vouched() == 10.0


@pytest.mark.parametrize("seconds", [3600, 1, -1, -3600])
def test_after_a_step_forward_or_back_the_watch_begins_anew(seconds: float) -> None:
    host = Host()
    host.vouched()
    host.goes_on(100)
    host.wall += seconds
    assert host.vouched() == 0.0
    host.goes_on(7)
    assert host.vouched() == 7.0


def test_a_clock_that_is_slewed_or_read_slowly_is_no_step() -> None:
    host = Host()
    host.vouched()
    for _ in range(50):
        host.goes_on(60, rate=1.0005)
        host.vouched()

    def reads_slowly() -> float:
        said = host.wall
        host.goes_on(20)
        return said

    assert host.watch.see(reads_slowly) == 3020.0


def test_a_page_left_half_written_by_a_killed_process_is_not_believed() -> None:
    host = Host()
    host.vouched()
    host.goes_on(10)
    host.watch._memory[:8] = struct.pack("=d", 5.0)
    assert host.vouched() == 0.0


def test_a_child_goes_on_with_the_watch_of_its_family_and_tells_it_of_a_step() -> None:
    host = Host()
    host.vouched()
    host.goes_on(10)
    child = os.fork()
    if child == 0:
        is_right = host.vouched() == 10.0
        host.wall += 3600
        is_right &= host.vouched() == 0.0
        os._exit(not is_right)
    assert os.waitpid(child, 0)[1] == 0
    host.goes_on(1)
    host.wall += 3600
    assert host.vouched() == 1.0


@pytest.mark.django_db
def test_the_clock_of_the_database_is_watched() -> None:
    watch = Steadiness()
    cursor = connections.shared_cursor()
    assert watch.look(cursor) == 0.0
    assert 0.0 < watch.look(cursor) < 5.0
