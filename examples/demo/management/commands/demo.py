"""`manage.py demo`: real traffic for the examples, once with a report or without end."""

from __future__ import annotations

import json
import os
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from examples.demo import feed, github_set, outside, plan, run
from examples.demo.request import Secrets
from examples.demo.send import NotAnsweredError

_CHARGES = 60


class Command(BaseCommand):
    """Sends demo traffic over HTTP to the running web process."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One of the two ways to run, and where."""
        way = parser.add_mutually_exclusive_group(required=True)
        way.add_argument(
            "--until-drained",
            action="store_true",
            help="send the fixed set, wait until it is processed, compare, report",
        )
        way.add_argument("--continuous", action="store_true", help="send gently until told to stop")
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="the web process")
        parser.add_argument("--report", type=Path, help="write the report (JSON) to this file")
        parser.add_argument("--seed", type=int, default=1, help="decides amounts and faults")
        parser.add_argument(
            "--folder",
            type=Path,
            default=settings.ENVIRONMENT.data / "demo",
            help="where the list of what will be sent is written",
        )
        parser.add_argument(
            "--patience", type=float, default=120, help="seconds to wait for the workers"
        )
        parser.add_argument(
            "--payments", type=int, default=5_000, help="how many payments the fixed set has"
        )

    def handle(self, **options: Any) -> None:
        """Run until drained, until told to stop, or until the server has been silent too long."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        if options["continuous"]:
            self._feed(options, stop)
        else:
            self._run(options, stop)

    def _feed(self, options: dict[str, Any], stop: threading.Event) -> None:
        random = Random(options["seed"])  # noqa: S311 - a demo, nothing secret
        try:
            hooks = github_set.webhooks(settings.BASE_DIR / "node_modules")
        except OSError:
            self.stderr.write(
                "No GitHub payloads (npm ci brings them): the feed has payments only."
            )
            hooks = []
        sent = feed.send_forever(
            feed.traffic(random, hooks, run=_run_name("live"), has_charges=outside.is_there()),
            url=options["url"],
            secrets=_secrets(),
            stop=stop,
        )
        self.stdout.write(f"The demo feed stopped after {sent} deliveries.")

    def _run(self, options: dict[str, Any], stop: threading.Event) -> None:
        path = _write_plan(options)
        self.stdout.write(f"What will be sent is written to {path}")
        server = run.Server(
            url=options["url"], secrets=_secrets(), patience_seconds=options["patience"]
        )
        try:
            report = run.execute(path, server, stop=stop, say=self.stdout.write)
        except (NotAnsweredError, run.NotDrainedError) as error:
            raise CommandError(str(error)) from error
        if options["report"]:
            text = json.dumps(report.as_dict(), indent=2)
            options["report"].write_text(text + "\n", encoding="utf-8")
        if not report.holds:
            raise CommandError(report.sentence())
        self.stdout.write(report.sentence())


def _write_plan(options: dict[str, Any]) -> Path:
    try:
        planned = run.make_plan(
            run=_run_name("run"),
            seed=options["seed"],
            node_modules=settings.BASE_DIR / "node_modules",
            count=options["payments"],
            charges=_CHARGES if outside.is_there() else 0,
        )
    except OSError as error:
        raise CommandError(
            f"GitHub's payloads are missing; npm ci brings them. ({error})"
        ) from error
    folder: Path = options["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{planned.run}.jsonl"
    plan.write(planned, path)
    return path


def _run_name(kind: str) -> str:
    """Part of every key of a run, so that a later run on the same data is a set of its own."""
    return f"{kind}-{timezone.now():%m%d-%H%M%S}"


def _secrets() -> Secrets:
    return Secrets(payments=_secret("payments"), github=_secret("github"))


def _secret(source: str) -> str:
    name = f"COMBOIO_SECRET_{source.upper()}"
    secret = os.environ.get(name)
    if not secret:
        raise CommandError(
            f"{name} is not set, so the source “{source}” would refuse everything. "
            "`manage.py up --demo` sets it."
        )
    return secret
