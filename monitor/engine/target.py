"""What a worker works on: a consumer of this process, as the database knows it now."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.domain.consumer import Consumer


@dataclass(frozen=True, slots=True)
class Target:
    """A consumer of this process and its id in the database.

    is_troubled: its downstream was away at its last try. is_probe: it is throttled, and this one
    message finds out whether the downstream is back.
    """

    consumer: Consumer
    id: int
    is_troubled: bool = False
    is_probe: bool = False
