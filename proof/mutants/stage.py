"""The stage of the mutants: one server, one prepared database, and the process that plays on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from config.launch.bootstrap import ROOT
from proof.mutants.outcome import FILE, Outcome, Result
from proof.run import RunError
from proof.workload import sources
from proof.world.server import Server

_TABLES = ROOT / "proof" / "tables.sql"
_NAME = "comboio"
_SAMPLE = 5
_PREPARE_SECONDS = 120.0
_MOST_SECONDS = 1200.0
_OURS = ("COMBOIO_", "DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE", "PROOF_")


@contextmanager
def stage(folder: Path | None = None) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder and the environment of a process that plays; RunError when it cannot be built."""
    place = folder or Path(tempfile.mkdtemp(prefix="comboio-mutants-"))
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o711)
    server = Server(place / "pg", log=place / "postgres.log")
    environment = _variables(place, server)
    (place / "comboio.toml").write_text(sources.toml(has_queue=False), encoding="utf-8")
    try:
        server.start()
        _prepare(environment)
        with psycopg.connect(server.url(_NAME)) as connection:
            connection.execute(_TABLES.read_text(encoding="utf-8"))
        yield place, environment
    finally:
        server.stop()
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)


def play(choice: Sequence[str], *, seed: int, folder: Path | None = None) -> Iterator[Result]:
    """Play the scenes of the chosen mutants; a result for each part as it ends.

    choice: words for python -m proof.mutants; none: all. Raises RunError.
    """
    with stage(folder) as (place, environment):
        words = [str(place), "--seed", str(seed), *choice]
        with subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "proof.mutants", *words],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None  # noqa: S101 - both are pipes
            assert process.stderr is not None  # noqa: S101
            try:
                yield from (json.loads(line) for line in process.stdout if line.startswith("{"))
                if process.wait(_MOST_SECONDS):
                    raise RunError(process.stderr.read()[-2000:])
            finally:
                process.kill()


def sample(folder: Path) -> None:
    """Play a few mutants, others for each commit, and keep the outcome beside a run's history."""
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    turn, begun = int(run["commit"] or "0", 16), time.monotonic()
    choice = ["--sample", str(_SAMPLE), str(turn)]
    results = list(play(choice, seed=run["seed"]))
    outcome = Outcome(results=results, seed=run["seed"], seconds=time.monotonic() - begun)
    (folder / FILE).write_text(outcome.line(), encoding="utf-8")


def _prepare(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "config.launch.prepare"],
        env={**environment, "COMBOIO_ROLE": "prepare"},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=_PREPARE_SECONDS,
    )
    if done.returncode:
        raise RunError(f"The database could not be prepared.\n{done.stdout}{done.stderr}")


def _variables(folder: Path, server: Server) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "proof.settings",
        "COMBOIO_ROLE": "worker",
        "SECRET_KEY": "only-for-this-run-" + "0123456789" * 4,
        "DATABASE_URL": server.url(_NAME),
        "BROKER_URL": "memory://",
        "COMBOIO_CONFIG": str(folder / "comboio.toml"),
        "COMBOIO_DATA": str(folder),
        "COMBOIO_HTTPS": "0",
        "COMBOIO_LOG_LEVEL": "WARNING",
    }
