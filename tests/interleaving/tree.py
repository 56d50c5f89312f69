"""The tree of schedules: walked at random, no schedule twice, until all are done."""

from __future__ import annotations

from collections import Counter
from random import Random


class _Node:
    __slots__ = ("children", "is_closed")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.is_closed = False


class Tree:
    """Which choices were made at each point of the schedules so far.

    With enough walks it is an enumeration of all schedules; with fewer it is a sample. The first
    two are the serial ones. Then, in turns: one actor is interrupted once, for as long as the
    others can go on; actors change seldom; every order is as likely as any other.
    """

    def __init__(self, seed: int) -> None:
        self._root = _Node()
        self._random = Random(seed)
        self._path: list[_Node] = []
        self._taken: Counter[str] = Counter()
        self._lengths: Counter[str] = Counter()  # how many steps each actor took at most
        self._pause = ("", 0)  # who is interrupted before which of its steps
        self._stays = 1.0
        self.walks = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether every schedule was walked."""
        return self._root.is_closed

    def begin(self) -> None:
        """Start the next walk."""
        self._path, self._taken, self._pause = [self._root], Counter(), ("", 0)
        self._stays = 1.0
        if self.walks > 1 and self.walks % 3 == 0:
            who = self._random.choice(sorted(self._lengths))
            self._pause = (who, self._random.randrange(1, max(self._lengths[who], 2)))
        elif self.walks > 1:
            self._stays = 0.85 if self.walks % 3 == 1 else 0.0

    def choose(self, letters: str, last: str) -> str:
        """Who steps now, of those who may."""
        node = self._path[-1]
        for letter in letters:
            node.children.setdefault(letter, _Node())
        fresh = [each for each in letters if not node.children[each].is_closed] or list(letters)
        letter = self._wanted(fresh, last)
        self._taken[letter] += 1
        self._path.append(node.children[letter])
        return letter

    def _wanted(self, letters: list[str], last: str) -> str:
        who, pause = self._pause
        if who:
            if who in letters and self._taken[who] < pause:
                return who
            return next((each for each in letters if each != who), letters[0])
        if self.walks < 2 and last not in letters:
            return letters[-1 if self.walks else 0]
        if last in letters and self._random.random() < self._stays:
            return last
        # By what each has still to do, so that all orders are about equally likely.
        left = [max(self._lengths[each] - self._taken[each], 1) for each in letters]
        return self._random.choices(letters, left)[0]

    def end(self) -> None:
        """The walk has come to its end: it will not be made again."""
        self.walks += 1
        self._lengths |= self._taken
        self._path[-1].is_closed = True
        for node in reversed(self._path[:-1]):
            if not all(child.is_closed for child in node.children.values()):
                break
            node.is_closed = True
