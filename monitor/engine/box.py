"""A time-boxed drain in a worker's child: what one wake-up does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from monitor.engine import failure, telemetry
from monitor.engine.drain import drain
from monitor.engine.life import Life

BOX_SECONDS = 2.0
LAST_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """How the child tells its parent what it does, and learns that it must stop."""

    drains: Callable[[], None]
    idles: Callable[[], None]
    is_stopping: Callable[[], bool]


def run(life: Life, signals: Signals) -> bool:
    """Drain until nothing may run or the box is over. True: wake me again, there may be more.

    The child is shown as idle before its last look: a message that came while it was shown as
    draining (so that nobody was woken) is found by that look.
    """
    signals.drains()
    try:
        drain(life, BOX_SECONDS, signals.is_stopping)
        signals.idles()
        return drain(life, LAST_LOOK_SECONDS, signals.is_stopping) > 0
    except Exception as error:
        if not failure.is_away(error):
            raise
        telemetry.engine_event("drain ended", error_class=type(error).__qualname__)
        return False
    finally:
        signals.idles()
