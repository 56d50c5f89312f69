"""The counters of a finished batch: how many, and how long their handlers took."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from monitor.domain.durations import BUCKET_SECONDS, BUCKETS
from monitor.store.queue import Finished


def counters(finished: Sequence[Finished], skipped: int) -> list[tuple[str, str, float]]:
    """(name, label, value) to add. Buckets are counted apart, not cumulated: fewer rows."""
    if not finished:
        return []
    per_bucket = Counter(
        BUCKETS[bisect_left(BUCKET_SECONDS, each.milliseconds / 1000.0)] for each in finished
    )
    found = [("handler_seconds_bucket", label, float(n)) for label, n in per_bucket.items()]
    total = sum(each.milliseconds for each in finished) / 1000.0
    found.append(("handler_seconds_sum", "", total))
    if len(finished) > skipped:
        found.append(("processed", "done", float(len(finished) - skipped)))
    if skipped:
        found.append(("processed", "skipped", float(skipped)))
    return found
