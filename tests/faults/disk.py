"""A disk without space: writes to a table need room there, and the server itself refuses them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection

from monitor.store import connections

_MOUNT_OPTIONS = "size=4m,mode=0777"
_NAME = f"test_small_{os.getpid()}"  # tablespaces and folders belong to all databases of a server
_SETUP = """
CREATE TABLE test_disk (filling text){tablespace};
ALTER TABLE test_disk ALTER filling SET STORAGE EXTERNAL;
CREATE FUNCTION test_needs_room() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN {write}; RETURN NEW; END $$;
"""
# Replacing a function waits for nobody: from then on the table is as before, whoever holds it.
_HARMLESS = """
CREATE OR REPLACE FUNCTION test_needs_room() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RETURN NEW; END $$
"""
_PATIENCE = (
    "SET lock_timeout = '30s'"  # writers of the table are about when the triggers come and go
)
_ON_THE_DISK = "INSERT INTO test_disk VALUES (repeat('x', 200000))"
# Where nothing can be mounted: the server's own limit of temporary files (53400 instead of 53100).
_IN_A_FILE = (
    "SET LOCAL work_mem = '64kB'; SET LOCAL temp_file_limit = 0; "
    "PERFORM n FROM generate_series(1, 50000) n ORDER BY md5(n::text) OFFSET 49999"
)


@contextmanager
def full(table: str, event: str = "INSERT", *, at_commit: bool = False) -> Iterator[None]:
    """While open, such a write to the table finds no space, at once or at its commit."""
    kind = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
    deferred = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    with _small_disk() as disk, connections.connect(autocommit=True) as own:
        own.execute(_PATIENCE)
        try:
            if disk is not None:
                own.execute(f"CREATE TABLESPACE {_NAME} LOCATION '{disk / 'space'}'")
            where = "" if disk is None else f" TABLESPACE {_NAME}"
            write = _IN_A_FILE if disk is None else _ON_THE_DISK
            own.execute(_SETUP.format(tablespace=where, write=write))
            if disk is not None:
                _fill(disk)
            own.execute(
                f"CREATE {kind} test_needs_room AFTER {event} ON {table} {deferred} "
                "FOR EACH ROW EXECUTE FUNCTION test_needs_room()"
            )
            yield
        finally:
            own.execute(_HARMLESS)
            own.execute("DROP FUNCTION test_needs_room CASCADE")
            own.execute("DROP TABLE IF EXISTS test_disk")
            if disk is not None:
                own.execute(f"DROP TABLESPACE IF EXISTS {_NAME}")


def _fill(disk: Path) -> None:
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(65_536))


@contextmanager
def _small_disk() -> Iterator[Path | None]:
    """A few megabytes beside the server's sockets, where its user may write; None without leave."""
    sockets = Path(connection.settings_dict["HOST"])
    disk = sockets.parent / _NAME
    disk.mkdir()
    try:
        command = [_program("mount"), "-t", "tmpfs", "-o", _MOUNT_OPTIONS, "small", str(disk)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            yield None
            return
        try:
            space = disk / "space"
            space.mkdir()
            owner = sockets.stat()
            os.chown(space, owner.st_uid, owner.st_gid)
            yield disk
        finally:
            subprocess.run([_program("umount"), "-l", str(disk)], check=True)
    finally:
        disk.rmdir()


def _program(name: str) -> str:
    return shutil.which(name) or f"/bin/{name}"
