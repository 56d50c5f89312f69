"""./manage.py prove: carry a run out, count it, say whether the promises hold."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from proof import verification
from proof.mutants import stage
from proof.mutants.outcome import Outcome, shown
from proof.profiles import PROFILES
from proof.report import report
from proof.run import RunError, run


def main(words: Sequence[str]) -> int:
    """0: everything holds. 1: something was broken or missed. 2: the run could not be done."""
    found = _parser().parse_args(words)
    if found.mutants:
        return _mutants(found)
    if found.check:
        return _count(found.check, found)
    folder = found.keep or Path(tempfile.mkdtemp(prefix="comboio-proof-"))
    try:
        profile = PROFILES[found.profile]
        slower = replace(profile, seconds=profile.seconds * found.stretch)
        run(slower, found.seed, folder)
        if found.profile == "ci":
            stage.sample(folder)
        return _count(folder, found)
    except RunError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    finally:
        if not found.keep:
            shutil.rmtree(folder, ignore_errors=True)


def _count(folder: Path, found: argparse.Namespace) -> int:
    counted = report(folder)
    print(counted.line() if found.json else counted.text())  # noqa: T201
    if found.record:
        verification.write(counted, folder)
    return 0 if counted.holds or (found.busy and counted.is_safe) else 1


def _mutants(found: argparse.Namespace) -> int:
    """Play the scenes of the mutants and say which were caught, each as soon as it is known."""
    begun, results = time.monotonic(), []
    try:
        for each in stage.play(["--only", *found.only], seed=found.seed, folder=found.keep):
            results.append(each)
            if not found.json:
                print(shown(each), flush=True)  # noqa: T201
    except RunError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    outcome = Outcome(results=results, seed=found.seed, seconds=time.monotonic() - begun)
    print(outcome.line() if found.json else outcome.text())  # noqa: T201
    if found.record:
        verification.write_mutants(outcome)
    return 0 if outcome.holds else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./manage.py prove", description=__doc__)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="ci", help="how large")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same")
    parser.add_argument(
        "--stretch",
        type=float,
        default=1.0,
        metavar="F",
        help="take F times as long (busy machine)",
    )
    parser.add_argument(
        "--busy", action="store_true", help="times are told and not judged: the machine is not ours"
    )
    parser.add_argument("--json", action="store_true", help="one line of figures")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep history and facts here")
    parser.add_argument("--record", action="store_true", help="write docs/verification.md")
    parser.add_argument(
        "--mutants", action="store_true", help="instead: is every seeded bug found by a checker?"
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="of the mutants only these"
    )
    parser.add_argument("--check", type=Path, metavar="FOLDER", help="count a kept run again")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
