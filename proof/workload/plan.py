"""What is sent and what must come of it: each message is a function of the seed and its number.

Nothing is kept, so a million messages cost no memory, and a checker can ask for any of them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

from proof.profiles import LEASE_SECONDS, Profile

HTTP, QUEUE = "proof", "queue"  # the sources; consumers are named <source>.<kind>
EXTERNAL = ("keyed", "queryable", "neither", "long")
APPENDING = ("append", "slow", "flaky")
LONG_SECONDS = LEASE_SECONDS + 0.1
POISON_ATTEMPTS = 3  # the limit of the consumers whose handlers always fail
_MOST_FAILURES = 3
_SESSIONS, _FEW_SESSIONS = 200, 20
_QUEUED_APPENDS = 0.4


class Copy(StrEnum):
    """When a message is sent again."""

    CLOSE = "close"  # at the same moment on another connection
    SOON = "soon"  # when it is probably done
    LATE = "late"  # much later
    CHANGED = "changed"  # the same key with another payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message. Those of a session are sent by one sender, in the order of their numbers."""

    n: int
    key: str
    kind: str
    source: str
    session: str  # "" means none
    body: dict[str, Any]
    copies: tuple[Copy, ...]

    @property
    def consumer(self) -> str:
        """The consumer that takes it."""
        return f"{self.source}.{self.kind}"

    @property
    def changed(self) -> dict[str, Any]:
        """The other payload that comes under its key."""
        return {**self.body, "cents": int(self.body.get("cents", 0)) + 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All messages of a run."""

    seed: int
    profile: Profile
    has_queue: bool = True

    def __len__(self) -> int:
        return self.profile.messages

    def numbers(self, sender: int) -> range:
        """The numbers of the messages of one sender, in its order."""
        return range(sender, self.profile.messages, self.profile.senders)

    def items(self) -> Iterator[Item]:
        """Every message."""
        return (self.item(n) for n in range(self.profile.messages))

    def key(self, n: int) -> str:
        """The key of a message."""
        return f"m-{self.seed}-{n}"

    def source(self, n: int) -> str:
        """Which way a message takes."""
        return QUEUE if self.has_queue and n % self.profile.senders == 0 else HTTP

    def item(self, n: int) -> Item:
        """The message with this number."""
        random = Random((self.seed << 40) + n)  # noqa: S311 - a plan, not a secret
        source = self.source(n)
        kind = self._kind(n, source, random)
        session = self._session(n % self.profile.senders, kind, random)
        body = self._body(n, kind, session, random)
        return Item(
            n=n,
            key=self.key(n),
            kind=kind,
            source=source,
            session=session,
            body=body,
            copies=tuple(self._copies(kind, random)),
        )

    def is_reordered(self, n: int) -> bool:
        """Whether it shall change places with its neighbour, if their sessions differ."""
        return Random((self.seed << 41) + n).random() < self.profile.reordered  # noqa: S311

    def _kind(self, n: int, source: str, random: Random) -> str:
        point = random.random()
        if source == QUEUE:
            return "append" if point < _QUEUED_APPENDS else "transfer"
        stride = max(self.profile.messages // max(self.profile.long_runs, 1), 1)
        if self.profile.long_runs and n % stride == 1:
            return "long"
        for kind, share in self.profile.shares.items():
            if point < share:
                return kind
            point -= share
        return "transfer"

    def _session(self, sender: int, kind: str, random: Random) -> str:
        if kind == "append":
            # Log-uniform ranks: Zipf sizes, the first session has the most.
            return f"append-{sender}-{int(_SESSIONS ** random.random())}"
        if kind in ("neither", "long"):
            return ""  # a follower would wait for a person
        if kind in APPENDING or random.random() < 0.5:  # noqa: PLR2004
            return f"{kind}-{sender}-{random.randrange(_FEW_SESSIONS)}"
        return ""

    def _body(self, n: int, kind: str, session: str, random: Random) -> dict[str, Any]:
        body: dict[str, Any] = {"n": n, "session": session or None}
        if kind == "transfer":
            source, target = random.sample(range(self.profile.accounts), 2)
            body |= {"from": source, "to": target, "cents": random.randint(1, 9999)}
        elif kind == "flaky":
            body["fails"] = random.randint(1, _MOST_FAILURES)
        elif kind == "slow":
            body["seconds"] = round(random.uniform(0.001, 0.005), 4)
        elif kind == "long":
            body["seconds"] = LONG_SECONDS
        return body

    def _copies(self, kind: str, random: Random) -> Iterator[Copy]:
        if random.random() < self.profile.duplicates:
            yield random.choice((Copy.CLOSE, Copy.SOON, Copy.LATE))
        if kind == "transfer" and random.random() < self.profile.mismatches / 0.5:
            yield Copy.CHANGED
