"""Turns the fates of a stretch of messages into rows, and writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

import psycopg

from monitor.domain import keys
from monitor.domain.fingerprint import HASH_VERSION, fingerprint
from monitor.seeding import bodies
from monitor.seeding.plot import Fate, Plot
from monitor.store.seed import rows, story

STRETCH = 20_000  # messages written at a time
HEAVY = 60  # duplicates of a key that comes again and again; 20 of them are kept
_HEAVY_SHARE = 0.00002
_DUPLICATE_SHARE = 0.012
_NULL = "\\N"
_DISCARDERS = ("anna", "bert", "olga")


@dataclass(slots=True)
class Stretch:
    """The rows of some messages on their way into the tables."""

    messages: list[str] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    sessions: list[tuple[int, int, str, str]] = field(default_factory=list)
    ready: list[tuple[Any, ...]] = field(default_factory=list)
    waiting: list[tuple[Any, ...]] = field(default_factory=list)
    dead: list[tuple[Any, ...]] = field(default_factory=list)
    discarded: list[tuple[Any, ...]] = field(default_factory=list)
    in_doubt: list[int] = field(default_factory=list)

    def elsewhere(self) -> list[int]:
        """The ids of those that are not done."""
        placed = (row[0] for each in (self.waiting, self.dead, self.discarded) for row in each)
        return [*(row[2] for row in self.ready), *placed, *self.in_doubt]


@dataclass(slots=True)
class Writer:
    """Writes stretch after stretch. met: the sessions that have a row."""

    plot: Plot
    random: Random
    until: datetime
    first_id: int
    met: set[int] = field(default_factory=set)
    ready: int = 0
    in_doubt: list[int] = field(default_factory=list)
    mismatches: list[tuple[Any, ...]] = field(default_factory=list)
    since: dict[int, str] = field(default_factory=dict)
    accepted: list[Accepted] = field(default_factory=list)

    def write(
        self, cursor: psycopg.Cursor[Any], first: int, count: int, times: Iterator[tuple[str, str]]
    ) -> None:
        """Write the messages first … first + count - 1 of the history."""
        stretch = Stretch()
        every = max(1, self.plot.shape.messages // self.plot.shape.mismatches)
        for at, fate in enumerate(self.plot.fates(first, count), first):
            minute, second = next(times)
            again = 1 if at % every == every // 2 and fate.state == "done" else 0
            self._add(stretch, self.first_id + at, fate, minute + second, again)
        self._copy(cursor, stretch, self.first_id + first, self.first_id + first + count - 1)

    def write_accepted(self, cursor: psycopg.Cursor[Any], first: int) -> int:
        """Write the second payloads that somebody accepted as messages; how many they are."""
        stretch = Stretch()
        for number, each in enumerate(self.accepted, first):
            self._put(stretch, each.message(number), each.content_type, each.payload, (0, 0))
            self.mismatches[each.mismatch] = (*self.mismatches[each.mismatch][:-1], number)
        if self.accepted:
            self._copy(cursor, stretch, first, first + len(self.accepted) - 1)
        rows.copy(cursor, "mismatches", self.mismatches)
        return len(self.accepted)

    def _add(self, stretch: Stretch, number: int, fate: Fate, at: str, again: int) -> None:
        plot, random = self.plot, self.random
        actor, consumer = plot.actors[fate.actor], plot.ids[fate.actor]
        session = fate.session or -number
        place = Place(
            id=number,
            consumer=consumer,
            lane=keys.lane(consumer, session),
            session=session,
            source=actor.consumer.source,
            origin=actor.origins[number % len(actor.origins)],
            key=f"{actor.kind}-{number}-{random.getrandbits(32):08x}",
            type=_type(actor.consumer.types, number),
            sequence=fate.sequence,
            at=at,
        )
        content_type, payload = bodies.body(actor.kind, fate.account, number, random)
        if fate.session and fate.session not in self.met:
            self.met.add(fate.session)
            stretch.sessions.append((fate.session, consumer, fate.account, at))
        self._put(stretch, place, content_type, payload, (self._duplicates(), again))
        self._stand(stretch, place, fate)
        if again:
            self._mismatch(place, content_type, payload)

    def _put(
        self,
        stretch: Stretch,
        place: Place,
        content_type: str,
        payload: bytes,
        again: tuple[int, int],
    ) -> None:
        """The message itself and the record of its key. again: duplicates and mismatches."""
        number = place.id
        sequence = _NULL if place.sequence is None else place.sequence
        trace = f"00-{number:032x}-{number:016x}-01" if number % 2 else _NULL
        stretch.messages.append(
            f"{number}\t{place.consumer}\t{place.lane}\t{place.session}\t{place.source}\t"
            f"{place.origin}\t{place.key}\t{place.type}\t{sequence}\t{content_type}\t"
            f"\\\\x{payload.hex()}\t{_headers(number)}\treq-{number:x}\t{trace}\t{place.at}\t"
            f"{place.at}\t{place.not_before}\n"
        )
        key = keys.dedup_key(place.origin, place.key).hex
        mark = fingerprint(payload, content_type).hex()
        stretch.records.append(
            f"{place.consumer}\t{key}\t{number}\t\\\\x{mark}\t{HASH_VERSION}\t{place.at}\t"
            f"{again[0]}\t{again[1]}\n"
        )

    def _stand(self, stretch: Stretch, place: Place, fate: Fate) -> None:
        """Where the message is, and what its gate says of it."""
        where = (place.id, place.consumer, place.lane, place.session)
        gate = self.plot.gates.get(fate.session)
        if gate is not None and gate.head is None and fate.state != "waiting":
            gate.head = place.id
            self.since[fate.session] = place.at
        if fate.state == "ready":
            stretch.ready.append((place.lane, place.session, place.id, fate.sequence))
        elif fate.state == "in_doubt":
            stretch.in_doubt.append(place.id)
        elif fate.state == "waiting":
            stretch.waiting.append((*where, _later(self.until, place.id)))
        elif fate.failure is not None:
            self._die(stretch, where, place, fate)

    def _die(self, stretch: Stretch, where: tuple[int, ...], place: Place, fate: Fate) -> None:
        failure = fate.failure
        if failure is None:
            raise AssertionError(fate)
        error = failure.error.format(n=place.id % 90_000)
        cause = (failure.reason, failure.error_class, error, failure.cause, failure.attempts)
        if fate.state == "dead":
            stretch.dead.append((*where, *cause, place.at))
        else:
            by = _DISCARDERS[place.id % 3]
            row = (*where, *cause, place.at, place.at, by, "a test of the producer")
            stretch.discarded.append(row)

    def _duplicates(self) -> int:
        luck = self.random.random()
        if luck < _HEAVY_SHARE:
            return HEAVY
        return 1 + int(1 / (luck + _DUPLICATE_SHARE / 8)) % 4 if luck < _DUPLICATE_SHARE else 0

    def _mismatch(self, place: Place, content_type: str, payload: bytes) -> None:
        second = bodies.changed(content_type, payload, place.id)
        mark = fingerprint(second, content_type)
        at = datetime.fromisoformat(place.at)
        last = min(at + timedelta(seconds=40 + place.id % 7_000), self.until)
        number = len(self.mismatches)
        verdict, by, when = None, None, None
        if number % 3:
            verdict = "accept second" if number % 9 == 1 else "keep first"
            by, when = _DISCARDERS[number % 3], min(last + timedelta(minutes=9), self.until)
        self.mismatches.append(
            (
                *(place.id, place.consumer, mark, HASH_VERSION, content_type, second),
                *(_headers(place.id), place.type, 1, last, last),
                *(verdict, by, when, "asked the producer" if verdict else None, None),
            )
        )
        if verdict == "accept second" and when is not None:
            key = keys.second_key(place.key, mark)
            accepted = Accepted(place, key, content_type, second, number, when.isoformat())
            self.accepted.append(accepted)

    def _copy(self, cursor: psycopg.Cursor[Any], stretch: Stretch, first: int, last: int) -> None:
        if stretch.sessions:
            rows.sessions(cursor, stretch.sessions)
        rows.copy_lines(cursor, "messages", stretch.messages)
        rows.copy_lines(cursor, "records", stretch.records)
        for name in ("ready", "waiting", "dead", "discarded"):
            rows.copy(cursor, name, getattr(stretch, name))
        self.ready += len(stretch.ready)
        self.in_doubt += stretch.in_doubt
        actors, ids = self.plot.actors, list(self.plot.ids)
        values = {
            "first": first,
            "last": last,
            "consumers": ids,
            "paces": [actor.pace for actor in actors],
            "others": stretch.elsewhere(),
            "classes": [actor.failures[0].error_class for actor in actors],
            "errors": [actor.failures[0].error.format(n=7) for actor in actors],
        }
        story.tell(cursor, "done", values)
        story.tell(cursor, "failed_attempts", values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Who a message is and where it stands."""

    id: int
    consumer: int
    lane: int
    session: int
    source: str
    origin: str
    key: str
    type: str
    sequence: int | None
    at: str
    not_before: str = _NULL


@dataclass(frozen=True, slots=True)
class Accepted:
    """A second payload that somebody accepted. mismatch: its place in the list of mismatches."""

    first: Place
    key: str
    content_type: str
    payload: bytes
    mismatch: int
    at: str

    def message(self, number: int) -> Place:
        """It as a message of its own, at the end of the session of the first."""
        first = self.first
        session = first.session if first.session > 0 else -number
        return Place(
            id=number,
            consumer=first.consumer,
            lane=keys.lane(first.consumer, session),
            session=session,
            source=first.source,
            origin=first.origin,
            key=self.key,
            type=first.type,
            sequence=None,
            at=self.at,
        )


def _type(types: tuple[str, ...] | None, number: int) -> str:
    known = types or ("mail.wanted", "mail.bounced")
    return known[number % len(known)]


def _headers(number: int) -> str:
    return f'{{"user-agent": "producer/{1 + number % 3}", "x-build": "{400 + number % 12}"}}'


def _later(until: datetime, number: int) -> datetime:
    return until + timedelta(seconds=600 + number % 70_000)
