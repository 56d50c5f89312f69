"""Children can be stopped whatever the shell made of their parent."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from config.launch.process import spawn


def test_a_child_of_a_process_in_the_background_hears_an_interrupt(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for "command &"
    try:
        child = spawn(
            ["sleep", "60"],
            death_signal=signal.SIGKILL,
            environment=os.environ,
            output=tmp_path / "log",
        )
    finally:
        signal.signal(signal.SIGINT, before)
    child.send_signal(signal.SIGINT)
    assert child.wait(10) == -signal.SIGINT
