"""The counters of a finished batch: how many, how long their handlers took, and of which types."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence

from monitor.domain.durations import BUCKET_SECONDS, BUCKETS
from monitor.store import rollup
from monitor.store.queue import Finished


def counters(finished: Sequence[Finished], skipped: int) -> list[tuple[str, str, float]]:
    """(name, label, value) to add. Buckets are counted apart, not cumulated: fewer rows.

    Two rows for each type of the batch: the clock folds them by the hour and bounds how many.
    """
    if not finished:
        return []
    per_bucket = Counter(
        BUCKETS[bisect_left(BUCKET_SECONDS, each.milliseconds / 1000.0)] for each in finished
    )
    found = [("handler_seconds_bucket", label, float(n)) for label, n in per_bucket.items()]
    total = sum(each.milliseconds for each in finished) / 1000.0
    found.append(("handler_seconds_sum", "", total))
    found += _by_type(finished)
    if len(finished) > skipped:
        found.append(("processed", "done", float(len(finished) - skipped)))
    if skipped:
        found.append(("processed", "skipped", float(skipped)))
    return found


def _by_type(finished: Sequence[Finished]) -> list[tuple[str, str, float]]:
    runs: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    for each in finished:
        runs[each.type] += 1
        seconds[each.type] += each.milliseconds / 1000.0
    found = [(rollup.TYPE_RUNS, type_, float(count)) for type_, count in runs.items()]
    return found + [(rollup.TYPE_SECONDS, type_, total) for type_, total in seconds.items()]
