"""The histogram in which the times of handlers are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
BUCKETS = (*(f"{bound:g}" for bound in BUCKET_SECONDS), "+Inf")  # the labels of its counters


def at_most(counts: Sequence[float], share: float) -> float | None:
    """No longer than so many seconds took this share of the runs; None without runs.

    counts: runs per bucket, each counted apart. The upper bound of a bucket, so never too low; runs
    beyond the last bound make it infinite.
    """
    total, seen = sum(counts), 0.0
    if not total:
        return None
    for bound, count in zip(BUCKET_SECONDS, counts, strict=False):
        seen += count
        if seen >= share * total:
            return bound
    return math.inf
