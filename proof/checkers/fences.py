"""A holder that lost its lease commits nothing: the commit is that of the last fence that began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from proof.checkers.facts import Facts, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Commits under a fence that was not the newest, and sessions whose fences went backwards."""
    begun: dict[int, int] = defaultdict(int)
    for line in facts.lines:
        if line["event"] == "start" and "fence" in line:
            begun[line["id"]] = max(begun[line["id"]], line["fence"])
    last: dict[tuple[str, str], int] = {}
    for row in facts.charged:
        # A message is leased again only while it is not done, so a commit is by its last holder.
        if row.fence < begun[row.message_id]:
            text = f"committed under fence {row.fence}; {begun[row.message_id]} had begun"
            yield _violation(row.key, row.message_id, text)
        if not row.session:
            continue
        before = last.get((row.consumer, row.session), 0)
        if row.fence <= before:
            text = f"session {row.session}: fence {row.fence} committed after {before}"
            yield _violation(row.key, row.message_id, text)
        last[row.consumer, row.session] = row.fence


def _violation(key: str, message_id: int, text: str) -> Violation:
    return Violation(kind="stale_commits", text=text, key=key, message_id=message_id)
