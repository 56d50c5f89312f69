"""Plays one scene, with a seeded bug or without, in a process of its own, and judges it."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

from proof import history
from proof.checkers import facts
from proof.checkers.facts import Facts, Violation
from proof.mutants.floor import Floor, fork
from proof.mutants.mutant import NO_EVIDENCE, Mutant, Scene

TEMPLATE = "comboio"
_LOG = "stage.log"
# How long things take is not judged here: two scenes share the machine.
_PATIENT_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A scene to be played, with this bug or with none."""

    scene: Scene
    mutant: Mutant | None

    @property
    def name(self) -> str:
        """Its name as that of a folder and a database."""
        what = "clean" if self.mutant is None else self.mutant.name
        return f"{self.scene.name} {what}".replace(" ", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of it. found: by checker, what it found. error: it could not be played."""

    part: Part
    seconds: float
    found: Mapping[str, list[Violation]]
    error: str = ""

    @property
    def caught_by(self) -> list[str]:
        """The checkers that found something; a traceback is no evidence."""
        return [name for name, several in self.found.items() if several and name != NO_EVIDENCE]

    @property
    def is_clean(self) -> bool:
        """Whether it was played and no checker found anything."""
        return not self.error and not any(self.found.values())


class Running:
    """A part that is being played by a child of this process."""

    def __init__(self, part: Part, folder: Path, url: str, *, seed: int) -> None:
        """url: of the template, straight to the server."""
        self.part = part
        self.begun = time.monotonic()
        self.folder = folder / part.name
        (self.folder / "history").mkdir(parents=True)
        (self.folder / "logs").mkdir()
        self._url, self._seed = url, seed
        _make(url, part.name)
        self.pid = fork(self._play)

    def end(self, status: int) -> Played:
        """Judge what it left, after its process ended with this status."""
        name, seconds = self.part.name, time.monotonic() - self.begun
        _drop(self._url, name)
        if status:
            log = (self.folder / "logs" / _LOG).read_text(encoding="utf-8", errors="replace")
            error = f"It ended with status {status}: {log[-1500:]}"
            return Played(part=self.part, seconds=seconds, found={}, error=error)
        try:
            most = _PATIENT_SECONDS
            profile = replace(self.part.scene.profile, drain_seconds=most, takeover_seconds=most)
            left = Facts(self.folder, profile)
            found = {name: list(check(left)) for name, check in self.part.scene.checks.items()}
        except Exception:  # the others are still to be judged
            error = f"It could not be judged: {traceback.format_exc()[-1500:]}"
            return Played(part=self.part, seconds=seconds, found={}, error=error)
        return Played(part=self.part, seconds=seconds, found=found)

    def _play(self) -> None:
        scene, mutant = self.part.scene, self.part.mutant
        os.environ[history.FOLDER] = str(self.folder / "history")
        log = os.open(self.folder / "logs" / _LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        url = make_conninfo(self._url, dbname=self.part.name)
        connection.settings_dict["NAME"] = self.part.name
        sockets = Path(str(connection.settings_dict["HOST"]))
        floor = Floor(
            scene=scene, seed=self._seed, folder=self.folder, database_url=url, sockets=sockets
        )
        if mutant is not None:
            if mutant.schema:
                floor.query(mutant.schema)
            mutant.apply()
        scene.play(floor)
        connection.close()
        facts.export(url, self.folder / "facts")
        record = {
            **{"profile": scene.profile.name, "seed": self._seed, "has_queue": scene.has_queue},
            **{"struck": floor.struck, "drain_seconds": floor.drain_seconds, "missing": []},
        }
        (self.folder / "run.json").write_text(json.dumps(record), encoding="utf-8")


def _make(url: str, name: str) -> None:
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as own:
        words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        own.execute(words.format(sql.Identifier(name), sql.Identifier(TEMPLATE)))


def _drop(url: str, name: str) -> None:
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as own:
        own.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
