"""Work goes on: a dead worker's is taken over in time, and soon after a restart of the database."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

from proof.checkers.facts import KILLS, Facts, Violation

_SECOND = 1e9
_AWAY = ("postgres_kills", "disk_full")  # nobody takes anything over while the database is away
_CLOCK_SECONDS = 1.0  # until every process of the server sees a step (proof.world.faketime)

Span = tuple[int, int]
Times = dict[int, list[int]]


def check(facts: Facts) -> Iterator[Violation]:
    """Targets of the profile that were missed."""
    profile, measured = facts.profile, measure(facts)
    for name, most in (
        ("takeover_p99_seconds", profile.takeover_seconds),
        ("takeover_leased_p99_seconds", profile.takeover_leased_seconds),
        ("first_commit_after_restart_seconds", profile.first_commit_seconds),
        ("drain_seconds", profile.drain_seconds),
    ):
        value = measured[name]
        if value is not None and value > most:
            yield Violation(kind="late", text=f"{name} is {value:.2f}, above {most:g}")


def measure(facts: Facts) -> dict[str, float | None]:
    """The times; None where nothing was there to measure."""
    batches, leased = _takeovers(facts)
    return {
        "takeover_p99_seconds": _p99(min(group) for group in batches),
        "recovered_p99_seconds": _p99(max(group) for group in batches),
        "takeover_leased_p99_seconds": _p99(min(group) for group in leased),
        "first_commit_after_restart_seconds": _most(_first_commits(facts)),
        "drain_seconds": facts.run.get("drain_seconds"),
    }


def _takeovers(facts: Facts) -> tuple[list[list[float]], list[list[float]]]:
    """For each kill of a worker: the times until the messages that it held started again.

    Those of its batch, which is taken over when the first of them starts; and of its lease, which
    must run out before. Where who took over was killed before the start, that kill is measured.
    """
    told = _starts_and_ends(facts)
    outages = [*_outages(facts), *_set_back(facts)]
    batches: list[list[float]] = []
    leases: list[list[float]] = []
    for line in facts.lines:
        if line["event"] != "nemesis" or line["fault"] != "worker_kills":
            continue
        leased = set(line["leased"])
        for kept, group in ((batches, set(line["held"]) - leased), (leases, leased)):
            seconds = list(_until_next(told, group, line["mono_ns"], outages))
            if seconds:
                kept.append(seconds)
    return batches, leases


def _starts_and_ends(facts: Facts) -> tuple[Times, Times]:
    """When each message started, and when a holder of it died or a person acted on it."""
    starts: Times = defaultdict(list)
    ends: Times = defaultdict(list)
    for line in facts.lines:
        if line["event"] == "start":
            starts[line["id"]].append(line["mono_ns"])
        elif line["event"] == "act":
            ends[line["id"]].append(line["mono_ns"])
        elif line.get("fault") in KILLS:
            for message_id in {*line["held"], *line["leased"]}:
                ends[message_id].append(line["mono_ns"])
    return starts, ends


def _until_next(
    told: tuple[Times, Times],
    group: set[int],
    died: int,
    outages: list[Span],
) -> Iterator[float]:
    starts, ends = told
    for message_id in group:
        times = starts[message_id]
        at = bisect_left(times, died)
        if at < len(times) and any(died < end < times[at] for end in ends[message_id]):
            continue  # Its next holder died, too; or it went dead, until a person said otherwise.
        # What its worker had committed before it died starts never again.
        if at < len(times) and not _overlaps(outages, (died, times[at])):
            yield (times[at] - died) / _SECOND


def _outages(facts: Facts) -> Iterator[Span]:
    begun: dict[str, int] = {}
    for line in facts.lines:
        if line["event"] == "nemesis" and line["fault"] in _AWAY:
            begun[line["fault"]] = line["mono_ns"]
        elif line["event"] == "healed" and line["fault"] in begun:
            yield begun.pop(line["fault"]), line["mono_ns"]


def _set_back(facts: Facts) -> Iterator[Span]:
    """While the clock of the database is set back no lease runs out (promise N9)."""
    since = None
    for line in facts.lines:
        if line["event"] == "nemesis" and line["fault"] == "clock_steps":
            if since is not None:
                yield since, line["mono_ns"] + int(_CLOCK_SECONDS * _SECOND)
            since = line["mono_ns"] if line["seconds"] < 0 else None


def _overlaps(outages: list[Span], span: Span) -> bool:
    return any(span[0] < until and since < span[1] for since, until in outages)


def _first_commits(facts: Facts) -> Iterator[float]:
    """From each return of the database to the next commit of any worker.

    Where it was away again before, that return is measured.
    """
    commits = [
        line["mono_ns"] for line in facts.lines if line["event"] in ("committed", "finished")
    ]
    outages = list(_outages(facts))
    for line in facts.lines:
        if line["event"] == "healed" and line["fault"] == "postgres_kills":
            back = line["mono_ns"]
            at = bisect_left(commits, back)
            if at < len(commits) and not _overlaps(outages, (back, commits[at])):
                yield (commits[at] - back) / _SECOND


def _p99(values: Iterable[float]) -> float | None:
    ordered = sorted(values)
    return round(ordered[int(len(ordered) * 0.99)], 3) if ordered else None


def _most(values: Iterable[float]) -> float | None:
    return round(max(values, default=0.0), 3) or None
