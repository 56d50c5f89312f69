"""The provider that the external effects of a run call: it is faulty, and keeps its own books."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from proof.world import keeper
from proof.world.kept import Kept, answers

_FAULTS = ("--unavailable=0.1", "--drop=0.05", "--closed=0.05", "--slow=0.01")


class Provider(Kept):
    """On a free port of loopback; what it did stands in `ledger`, which outlives it."""

    def __init__(self, folder: Path, environment: Mapping[str, str], seed: int) -> None:
        (port,) = keeper.free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self.ledger = folder / "provider.ledger"
        own = ("--ledger", str(self.ledger), "--port", str(port), "--seed", str(seed))
        super().__init__(
            "provider",
            ("-m", "examples.provider", *own, *_FAULTS, "--closed-seconds=1"),
            environment,
            log=folder / "provider.log",
            is_ready=partial(answers, port),
        )
