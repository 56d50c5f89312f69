"""One fixed run: write the plan, send it, wait until all is processed, report what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from django.db import connection

from examples.demo import (
    charges_set,
    check,
    effects,
    github_set,
    outside,
    payments_set,
    plan,
)
from examples.demo.plan import Plan, Shape
from examples.demo.request import Secrets
from examples.demo.send import Tally, send_all

_POLL_SECONDS = 0.1
FAULTS = ("lost", "doubles", "order_violations", "external_doubles")


class NotDrainedError(Exception):
    """Messages were still waiting when the time was over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where to send, with which secrets, and how long to wait for the workers."""

    url: str
    secrets: Secrets
    patience_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a run, what was intended, and every difference in words."""

    figures: dict[str, int]
    intended: dict[str, int]
    problems: tuple[str, ...]
    seconds: float
    resent: int
    run: str
    seed: int

    @property
    def holds(self) -> bool:
        """Whether the run was faultless."""
        return not self.problems

    def as_dict(self) -> dict[str, object]:
        """The report as it is written to a file."""
        return {
            **self.figures,
            "seconds": round(self.seconds, 1),
            "holds": self.holds,
            "problems": list(self.problems),
            "intended": self.intended,
            "resent": self.resent,
            "run": self.run,
            "seed": self.seed,
        }

    def sentence(self) -> str:
        """The report in one sentence."""
        if not self.holds:
            return f"The run does not hold: {'; '.join(self.problems)}."
        return (
            "{deliveries:,} deliveries became {accepted:,} messages: {done:,} done, {dead} dead, "
            "{parked} parked, {in_doubt} in doubt; {effects_external} charges outside, "
            "{external_doubles} doubled there; {duplicates:,} duplicates, {mismatches} mismatches "
            "and {refused} refusals; "
            "{lost} lost, {doubles} doubled, {order_violations} out of order"
        ).format(**self.figures) + f", in {self.seconds:.1f} s."


def make_plan(
    *, run: str, seed: int, node_modules: Path, count: int = 5_000, charges: int = 0
) -> Plan:
    """The fixed set of a seed: payments, GitHub's webhooks, charges. Runs differ in their keys."""
    random = Random(seed)  # noqa: S311 - a repeatable demo, nothing secret
    payments = payments_set.payments(random, run=run, count=count, accounts=max(20, count // 25))
    github = github_set.deliveries(random, github_set.webhooks(node_modules), run=run)
    charged = charges_set.deliveries(run=run, count=charges)
    return Plan(run=run, seed=seed, deliveries=(*payments, *github, *charged))


def execute(
    path: Path, server: Server, *, stop: threading.Event, say: Callable[[str], None]
) -> Report:
    """Send the plan that stands in the file and report what came of it.

    Raises NotAnsweredError when the server stays silent, NotDrainedError when the workers do.
    """
    planned = plan.read(path)
    started = time.monotonic()
    with connection.cursor() as cursor:
        mark = check.watermark(cursor)
    tally = Tally()
    for is_late in (False, True):
        part = [each for each in planned.deliveries if (each.shape is Shape.LATE) == is_late]
        tally.add(send_all(part, url=server.url, secrets=server.secrets, stop=stop))
        say(f"{tally.deliveries} of {len(planned.deliveries)} deliveries sent")
        _wait_until_drained(mark, server.patience_seconds, stop)
    seconds = time.monotonic() - started
    return report(planned, observed(planned, tally), tally=tally, seconds=seconds)


def observed(planned: Plan, tally: Tally) -> dict[str, int]:
    """The figures of a run, read from the database and from the answers that the sender got."""
    with connection.cursor() as cursor:
        seen = check.messages(cursor, planned.keys)
        alerts = check.alerts(cursor, seen)
        effect_keys = check.effect_keys(cursor, seen)
    return {
        "deliveries": tally.deliveries,
        "refused": tally.outcomes["refused"],
        "alerts": alerts,
        **check.figures(planned, seen, effects.of_keys(planned.keys)),
        **outside.figures(effect_keys, outside.charged()),
    }


def report(planned: Plan, figures: dict[str, int], *, tally: Tally, seconds: float) -> Report:
    """Compare the figures with the plan's."""
    intended = plan.intended(planned)
    problems = [f"{name} is {figures[name]}, not 0" for name in FAULTS if figures[name]]
    for name, wanted in intended.items():
        # A delivery sent again because no answer came may have arrived the first time: then it
        # was one duplicate more for each of its consumers, or one mismatch more.
        spare = tally.resent * 3 if name in ("duplicates", "mismatches") else 0
        if not wanted <= figures[name] <= wanted + spare:
            problems.append(f"{name} is {figures[name]}, {wanted} was intended")
    return Report(
        figures={name: figures[name] for name in (*intended, *FAULTS)},
        intended=intended,
        problems=(*problems, *tally.surprises[:10]),
        seconds=seconds,
        resent=tally.resent,
        run=planned.run,
        seed=planned.seed,
    )


def _wait_until_drained(mark: int, patience_seconds: float, stop: threading.Event) -> None:
    """Wait until nothing of the run is ready, running or waiting outside held sessions."""
    deadline = time.monotonic() + patience_seconds
    with connection.cursor() as cursor:
        while left := check.unfinished(cursor, mark):
            if time.monotonic() > deadline or stop.wait(_POLL_SECONDS):
                raise NotDrainedError(
                    f"{left} messages still wait. Is a worker running, and is a consumer held?"
                )
