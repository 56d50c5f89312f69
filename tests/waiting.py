"""Waits for what another process or thread will do, with a deadline instead of a sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def wait_until(predicate: Callable[[], Answer], seconds: float = 10, *, what: str = "") -> Answer:
    """Ask until the answer is true and return it; AssertionError when the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        answer = predicate()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what or predicate.__qualname__}")
        time.sleep(0.01)
