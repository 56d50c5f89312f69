"""Real Celery workers: they drain at each wake-up and host the receiver of the queue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from proof.world.kept import Kept

_CHILDREN = 2


class CeleryWorkers:
    """Workers as `up` starts them; their parents and children may be killed."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], *, count: int = 1, seed: int = 0
    ) -> None:
        self._random = Random(f"{seed}/celery")  # noqa: S311 - faults, not secrets
        self._workers = [_worker(folder, environment, number) for number in range(count)]

    def start(self) -> None:
        """Start them without waiting."""
        for worker in self._workers:
            worker.start()

    def wait_ready(self) -> None:
        """Return when all take work. TimeoutError when one takes too long."""
        for worker in self._workers:
            worker.wait_ready()

    def mend(self) -> bool:
        """Start again who ended by itself; whether somebody had."""
        mended = [worker.mend() for worker in self._workers]
        return True in mended

    def some(self) -> Kept:
        """One of them, by chance."""
        return self._random.choice(self._workers)

    def stop(self) -> None:
        """Let them finish and end."""
        for worker in self._workers:
            worker.stop()


def _worker(folder: Path, environment: Mapping[str, str], number: int) -> Kept:
    ready = folder / f"celery-{number}.ready"
    words = ("-m", "celery", "-A", "config.celery", "worker", "-n", f"proof-{number}@%h")
    return Kept(
        "worker",
        (*words, "-c", str(_CHILDREN), "--without-gossip", "--without-mingle", "-l", "INFO"),
        {**environment, "COMBOIO_READY": str(ready), "C_FORCE_ROOT": "1"},
        log=folder / f"celery-{number}.log",
        is_ready=ready.exists,
    )
