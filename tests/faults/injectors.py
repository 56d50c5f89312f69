"""Injectors of faults: processes that die or stop at a place, links, locks, full tables."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection

from monitor.store import connections
from tests import needs
from tests.faults import child
from tests.faults.child import Place, Strike
from tests.faults.proxy import Proxy
from tests.waiting import wait_until

_SECONDS = 30.0

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([child.__name__])


class Actor:
    """A process on the product's real code, with its strikes; it may be killed or paused."""

    def __init__(self, place: Place, strikes: tuple[Strike, ...], job: Callable[[], Any]) -> None:
        self._answer, out = _context.Pipe(duplex=False)
        self._process = _context.Process(target=child.begin, args=(place, strikes, job, out))
        self._process.start()
        out.close()

    def wait_stopped(self) -> None:
        """Until it has stopped itself."""
        wait_until(self._is_stopped, _SECONDS, what="a process that stops itself")

    def wait_killed(self) -> None:
        """Until it is gone, by SIGKILL and nothing else."""
        self._process.join(_SECONDS)
        assert self._process.exitcode == -signal.SIGKILL

    def go_on(self) -> None:
        """Let a stopped one continue."""
        os.kill(self._pid, signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, also while it is stopped."""
        if self._process.exitcode is None:
            os.kill(self._pid, signal.SIGKILL)
        self._process.join(_SECONDS)

    def answer(self) -> Any:
        """What its job returned, or the name of the error that came out of it."""
        assert self._answer.poll(_SECONDS), "no answer"
        found = self._answer.recv()
        self._process.join(_SECONDS)
        return found

    def is_silent(self) -> bool:
        """Whether it still lives and has not answered."""
        return self._process.is_alive() and not self._answer.poll()

    def close(self) -> None:
        """Nothing of it is left."""
        self.kill()
        self._process.close()
        self._answer.close()

    @property
    def _pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def _is_stopped(self) -> bool:
        assert self._process.exitcode is None, f"it ended with {self._process.exitcode}"
        stat = Path(f"/proc/{self._pid}/stat").read_text(encoding="ascii", errors="replace")
        return stat.rpartition(")")[2].split()[0] == "T"


class Stage:
    """The processes and links of one test; close() leaves nothing of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._links = 0

    def start(
        self,
        job: Callable[[], Any],
        *strikes: Strike,
        link: Proxy | None = None,
        **session: str,
    ) -> Actor:
        """A process that does this job on the test's database, its sessions set so."""
        settings = connection.settings_dict
        host = settings["HOST"] if link is None else link.host
        actor = Actor(Place(host=host, name=settings["NAME"], session=session), strikes, job)
        self._stack.callback(actor.close)
        return actor

    def link(self) -> Proxy:
        """A link to the test's database."""
        self._links += 1
        folder, host = self._folder / f"link{self._links}", connection.settings_dict["HOST"]
        return self._kept(Proxy.of_database(folder, host))

    def link_to(self, port: int) -> Proxy:
        """A link to a port of this machine, such as the broker's."""
        return self._kept(Proxy.of_port(port))

    def close(self) -> None:
        """End everything, the last one first."""
        self._stack.close()

    def _kept(self, made: Proxy) -> Proxy:
        self._stack.callback(made.close)
        return made


@contextmanager
def holding(statement: str, *more: str) -> Iterator[psycopg.Connection[Any]]:
    """Another session that has run these statements and keeps its locks while the block runs."""
    own = connections.connect(application_name="somebody else")
    try:
        for each in (statement, *more):
            own.execute(each)
        yield own
    finally:
        with suppress(psycopg.Error):
            own.rollback()
        own.close()


def terminate(where: str) -> int:
    """End the sessions of others (57P01 there) of which pg_stat_activity says so; how many."""
    connection.ensure_connection()
    query = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        f"WHERE pid NOT IN (pg_backend_pid(), {connection.connection.info.backend_pid}) "
        f"AND datname = current_database() AND ({where})"
    )
    with connections.connect(autocommit=True) as own:
        row = own.execute(query).fetchone()
    return int(row[0]) if row else 0


def waits_for_a_lock(application: str) -> bool:
    """Whether a session of an application of such a name waits for a lock."""
    query = (
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
        "AND datname = current_database() AND application_name LIKE %s)"
    )
    with connections.connect(autocommit=True) as own:
        row = own.execute(query, [f"{application}%"]).fetchone()
    return bool(row and row[0])


@contextmanager
def taking_every_slot() -> Iterator[None]:
    """While open, the server has no free connection for anybody."""
    connection.close()
    taken: list[connections.Connection] = []
    with ExitStack() as stack:
        with suppress(psycopg.OperationalError):
            while True:
                taken.append(stack.enter_context(connections.connect(autocommit=True)))
        assert taken, "somebody else took them all"
        yield


@contextmanager
def tracing(where: str, *options: str) -> Iterator[None]:
    """While open, strace sits on the one server process of which pg_stat_activity says so."""
    program = needs.program("strace")
    query = f"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND {where}"
    with connections.connect(autocommit=True) as own:
        ((pid,),) = own.execute(query).fetchall()
    tracer = subprocess.Popen(
        [program, "-p", str(pid), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: f"TracerPid:\t{tracer.pid}\n" in _status(pid), what="strace")
        yield
    finally:
        tracer.kill()
        tracer.wait()


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
