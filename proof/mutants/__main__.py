"""python -m proof.mutants FOLDER: plays every scene with and without its bugs, two at a time.

Wants DATABASE_URL to name the prepared template, to which nobody is connected. Prints a line of
JSON for each part that was played.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proof.settings")
django.setup()

from config.launch.process import die_with_parent  # noqa: E402 - after the set-up above
from proof.mutants.playing import Part, Played, Running  # noqa: E402 - after the set-up above
from proof.mutants.registry import (  # noqa: E402
    UnknownMutantError,
    chosen,
    rotated,
    scenes_of,
)

_MOST_SECONDS = 180.0  # of one part
_LOOK_SECONDS = 0.02


def main(words: Sequence[str]) -> int:
    """0: all were played, whatever was found. 2: there is no such mutant."""
    parser = argparse.ArgumentParser(prog="python -m proof.mutants")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sample", type=int, nargs=2, metavar=("COUNT", "TURN"))
    found = parser.parse_args(words)
    die_with_parent(signal.SIGKILL)
    try:
        parts = list(_parts(rotated(*found.sample) if found.sample else found.only))
    except UnknownMutantError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    for played in _play(parts, found.folder, seed=found.seed, jobs=found.jobs):
        print(json.dumps(_line(played)), flush=True)  # noqa: T201
    return 0


def _parts(only: Sequence[str]) -> Iterator[Part]:
    mutants = chosen(only)
    for scene in scenes_of(mutants):
        yield Part(scene=scene, mutant=None)
        yield from (Part(scene=scene, mutant=m) for m in mutants if m.scene == scene.name)


def _play(parts: Sequence[Part], folder: Path, *, seed: int, jobs: int) -> Iterator[Played]:
    url = os.environ["DATABASE_URL"]
    waiting, running = list(parts), dict[int, Running]()
    while waiting or running:
        while waiting and len(running) < jobs:
            begun = Running(waiting.pop(0), folder, url, seed=seed)
            running[begun.pid] = begun
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in running:
            yield running.pop(pid).end(status)
            continue
        for each in running.values():
            if time.monotonic() - each.begun > _MOST_SECONDS:
                with suppress(ProcessLookupError):
                    os.kill(each.pid, signal.SIGKILL)
        time.sleep(_LOOK_SECONDS)


def _line(played: Played) -> dict[str, object]:
    mutant = played.part.mutant
    return {
        "scene": played.part.scene.name,
        "mutant": "" if mutant is None else mutant.name,
        "rule": "" if mutant is None else mutant.rule,
        "seam": "" if mutant is None else mutant.seam,
        "expected": [] if mutant is None else list(mutant.expected),
        "caught_by": played.caught_by,
        "is_clean": played.is_clean,
        "seconds": round(played.seconds, 1),
        "error": played.error,
        "found": {
            name: [len(several), several[0].text]
            for name, several in played.found.items()
            if several
        },
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
