"""The life of one prefork child: opened at its first wake-up, closed at its orderly end."""

from __future__ import annotations

import os
from functools import partial

from billiard import current_process
from billiard.common import terminate_handler_fired

from monitor.engine import box
from monitor.engine.life import Life
from monitor.worker.board import BOARD

_lives: dict[int, Life] = {}  # by pid: a fork must not use its parent's


def drain() -> bool:
    """One wake-up; True when there may be more to do."""
    index = _index()
    signals = box.Signals(
        drains=partial(BOARD.drains, index),
        idles=partial(BOARD.idles, index),
        is_stopping=BOARD.is_stopping,
    )
    try:
        return box.run(_life(index), signals)
    except Exception:
        raise
    except BaseException:
        # A handler that leaves by sys.exit() ends this process like a kill: what was announced
        # must stay, or nobody would ever suspect it. A signal from outside blames nobody.
        if not terminate_handler_fired():
            _lives.pop(os.getpid(), None)
        raise


def end() -> None:
    """Close this child's life: its announcements are withdrawn."""
    life = _lives.pop(os.getpid(), None)
    if life is not None:
        life.end()


def _life(index: int) -> Life:
    pid = os.getpid()
    if pid not in _lives:
        _lives[pid] = Life("child", note=partial(BOARD.runs, index))
    return _lives[pid]


def _index() -> int:
    return int(getattr(current_process(), "index", 0))
