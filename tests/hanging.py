"""A database whose answer to a COMMIT never comes: the connection stays open, without a word."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from proof.world.proxy import CommitProxy, Cut
from tests.waiting import wait_until


@contextmanager
def proxied() -> Iterator[CommitProxy]:
    """New connections of the product go through the proxy while the block runs."""
    server = Path(connection.settings_dict["HOST"])
    with (
        tempfile.TemporaryDirectory(prefix="comboio-hang-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        proxy = CommitProxy(Path(folder), server, Path(folder))
        proxy.start()
        patch.setitem(connection.settings_dict, "HOST", folder)
        try:
            yield proxy
        finally:
            proxy.stop()


def hang(proxy: CommitProxy) -> None:
    """The answer to the next COMMIT that wrote is swallowed; returns when that has happened."""
    before = len(proxy.cuts())
    proxy.arm(Cut.HANG)
    wait_until(lambda: len(proxy.cuts()) > before, what="a COMMIT")
