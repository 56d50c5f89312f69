"""A worker of the tests whose clock is wrong: python -m tests.monitor.cases.skewed SECONDS.

It is the worker of tests.leasing, parent and child, in a time that is so many seconds off. It
writes the time that it believes into its folder, so that a test sees the clock was really wrong.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

FOLDER = "LEASING_FOLDER"  # of tests.leasing, which must not be imported before it is run


def believed(seconds: float) -> Path:
    """Where a worker that is so many seconds off writes down what time it believes it is."""
    return Path(os.environ[FOLDER]) / f"believed{seconds:+.0f}"


if __name__ == "__main__":
    off = float(sys.argv[1])
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=off), tick=True):
        believed(off).write_text(str(time.time()))
        runpy.run_module("tests.leasing", run_name="__main__")
