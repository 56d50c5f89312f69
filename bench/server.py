"""A throw-away PostgreSQL for a measurement: embedded, and as durable as the product's own."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.core.management import call_command
from django.db import connection

from config.launch import postgres
from config.launch.postgres import Cluster


@contextmanager
def durable_database() -> Iterator[str]:
    """Start the server, migrate, and say how durable it is; all is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="comboio-bench-"))
    folder.chmod(0o711)  # The server may run as another user.
    binaries, data = postgres.find_binaries(), folder / "data"
    cluster = Cluster(
        binaries=binaries,
        data=data,
        sockets=folder / "run",
        account=postgres.choose_account(binaries, data),
        settings={"shared_buffers": "256MB", "max_wal_size": "4GB"},
    )
    try:
        postgres.initialise(cluster)
        process = postgres.start(cluster, output=folder / "postgres.log")
        try:
            _configure(cluster)
            yield _durability()
        finally:
            connection.close()
            postgres.stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _configure(cluster: Cluster) -> None:
    os.environ.update(
        DJANGO_SETTINGS_MODULE="config.settings",
        DATABASE_URL=postgres.url(cluster.sockets, "postgres"),
        SECRET_KEY=secrets.token_urlsafe(50),
        COMBOIO_LOG_LEVEL="WARNING",
        COMBOIO_ROLE="bench",
    )
    django.setup()
    call_command("migrate", verbosity=0)


def _durability() -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT version(), current_setting('fsync'), current_setting('synchronous_commit')"
        )
        version, fsync, synchronous_commit = cursor.fetchone()
    name = " ".join(version.split()[:2])
    return f"{name}, fsync {fsync}, synchronous_commit {synchronous_commit}"
