"""The product's web process, for deliveries by HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from proof.world import keeper
from proof.world.kept import Kept, answers


class Web(Kept):
    """As `up` starts it, on a free port of loopback."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        (port,) = keeper.free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        listen = ("--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port))
        threads = ("--workers", "1", "--blocking-threads", "8", "--no-ws")
        mending = ("--respawn-failed-workers", "--workers-kill-timeout", "2")
        words = (*listen, *threads, *mending, "--log-level", "warning")
        super().__init__(
            "web",
            ("-m", "granian", *words, "config.wsgi:application"),
            environment,
            log=folder / "web.log",
            is_ready=partial(answers, port),
        )
