"""How large a made-up history is, and how much of it ends in each state."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = 1_000  # a smaller history has no room for one of each kind
_DEAD_SHARE = 25  # one of so many
_SESSION_SHARE = 100
_MOST_DEAD_SHARE = 0.2  # of all; more would leave no consumer that looks sound


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a history. seed: equal ones give equal histories, but for the time of day."""

    messages: int
    dead: int
    sessions: int
    seed: int = 1
    days: int = 7

    @classmethod
    def of(
        cls, messages: int, *, dead: int | None, sessions: int | None, seed: int, days: int
    ) -> Shape:
        """A shape, with the usual shares for what is None. ValueError in words when it is none."""
        if messages < LEAST or days < 1:
            raise ValueError(f"At least {LEAST:,} messages and 1 day are needed.")
        shape = cls(
            messages=messages,
            dead=messages // _DEAD_SHARE if dead is None else dead,
            sessions=max(50, messages // _SESSION_SHARE) if sessions is None else sessions,
            seed=seed,
            days=days,
        )
        if shape.dead > messages * _MOST_DEAD_SHARE:
            raise ValueError(f"At most {_MOST_DEAD_SHARE:.0%} of the messages can be dead.")
        if not 1 <= shape.sessions <= messages:
            raise ValueError("The sessions must be at least 1, and no more than the messages.")
        return shape

    @property
    def backlog(self) -> int:
        """The newest messages, which nobody has run yet."""
        return max(60, self.messages // 200)

    @property
    def delayed(self) -> int:
        """Messages that their sender delayed."""
        return max(5, self.messages // 5_000)

    @property
    def doubts(self) -> int:
        """Messages in doubt."""
        return max(4, self.messages // 10_000)

    @property
    def discarded(self) -> int:
        """Messages that a person discarded."""
        return max(5, self.messages // 2_500)

    @property
    def mismatches(self) -> int:
        """Keys that came again with another payload."""
        return max(10, self.messages // 5_000)

    @property
    def holds(self) -> int:
        """Sessions that wait for a person, most of them for their dead head."""
        return max(6, self.sessions // 200)

    @property
    def gaps(self) -> int:
        """Sessions that wait for a number."""
        return max(2, self.sessions // 1_000)

    @property
    def retries(self) -> int:
        """Sessions whose head waits for its next attempt."""
        return max(5, self.messages // 20_000)
