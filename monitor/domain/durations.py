"""The histogram in which the times of handlers are counted."""

from __future__ import annotations

BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
BUCKETS = (*(f"{bound:g}" for bound in BUCKET_SECONDS), "+Inf")  # the labels of its counters
