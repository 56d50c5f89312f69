"""The senders as a process: python -m proof.workload PROFILE SEED SECONDS WEB_URL [AMQP_URL]."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

from proof.profiles import PROFILES
from proof.workload.batches import batches
from proof.workload.http import Poster
from proof.workload.plan import Plan
from proof.workload.queue import Publisher


def main(words: list[str]) -> int:
    """Send everything, each sender in a thread of its own; 1 when something was not accepted."""
    profile, seed, seconds, web, *rest = words
    amqp = rest[0] if rest else ""
    sized = replace(PROFILES[profile], seconds=float(seconds))
    plan = Plan(seed=int(seed), profile=sized, has_queue=bool(amqp))
    started = time.monotonic()
    with ThreadPoolExecutor(plan.profile.senders) as pool:
        jobs = [
            pool.submit(_send, plan, sender, (web, amqp), started)
            for sender in range(plan.profile.senders)
        ]
    failed = [job.exception() for job in jobs if job.exception()]
    for error in failed:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
    return 1 if failed else 0


def _send(plan: Plan, sender: int, urls: tuple[str, str], started: float) -> None:
    web, amqp = urls
    is_publisher = bool(amqp) and sender == 0
    line: Poster | Publisher = Publisher(amqp, sender) if is_publisher else Poster(web, sender)
    with closing(line):
        for batch in batches(plan, sender):
            # Evenly over the time of the profile; late is late, nothing is left out.
            time.sleep(max(started + batch.share * plan.profile.seconds - time.monotonic(), 0.0))
            line.send(batch)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
