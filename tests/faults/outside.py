"""Charges outside the transaction: a provider of each kind, its books in files, the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group

from monitor.domain.effect import Call, Effect, Evidence, Told
from monitor.domain.retry import Retry
from monitor.operations import effects
from monitor.testing import Inbox
from tests.engine import consuming, delivery, drain_all, send
from tests.faults import world
from tests.people import CLARA
from tests.rows import one, rows

KINDS = ("keyed", "queryable", "neither")
LEASE_SECONDS = 30.0
# The errors that come out when it is the database that failed.
AWAY = {
    *("OperationalError", "InternalError", "IdleInTransactionSessionTimeout"),
    *("AdminShutdown", "LockNotAvailable", "DiskFull"),
}
_RETRY = Retry(limit=5, base_seconds=0.01, cap_seconds=0.01)


@dataclass(frozen=True, slots=True)
class Provider:
    """It acts, then answers, or loses its answer. A keyed one acts once for each key."""

    books: Path
    kind: str
    loses: bool = False

    def act(self, call: Call) -> dict[str, str]:
        """The call."""
        self._note("calls", call.key)
        if self.kind != "keyed" or call.key not in self.read("acts"):
            self._note("acts", call.key)
        acted()
        if self.loses:
            raise TimeoutError("no answer")
        return {"charge": call.key}

    def ask(self, call: Call) -> Evidence:
        """The question."""
        self._note("questions", call.key)
        told = Told.DONE if call.key in self.read("acts") else Told.NOT_DONE
        return Evidence(told=told, result={"charge": call.key})

    def read(self, book: str) -> list[str]:
        """The keys in one of its books."""
        path = self.books / f"{self.kind}-{book}"
        return path.read_text().splitlines() if path.exists() else []

    def _note(self, book: str, key: str) -> None:
        with (self.books / f"{self.kind}-{book}").open("a") as file:
            file.write(f"{key}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The job of a worker that charges by one kind of provider. Answers how many moved."""

    books: Path
    kind: str
    loses: bool = False

    def __call__(self) -> int:
        with declared(self.books, self.kind, loses=self.loses):
            return drain_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of one charge: both sides of it."""

    message: str
    effect: str
    calls: int
    acts: int
    rows: int
    by: str


def acted() -> None:
    """A place to strike at: the provider has acted, and no answer came yet."""


def charge(_payload: Any, message: Any) -> None:
    """Charge, then write one row in the transaction."""
    message.effect("charge", {"cents": 5})
    with message.transaction():
        Group.objects.create(name=f"charged/{message.type}")


@contextmanager
def declared(books: Path, *kinds: str, loses: bool = False) -> Iterator[None]:
    """The consumers of these kinds (none: all), each of messages of that type."""
    with ExitStack() as stack:
        for kind in kinds or KINDS:
            provider = Provider(books, kind, loses)
            effect = Effect(
                name="charge",
                kind=kind,
                call=provider.act,
                reconcile=provider.ask if kind == "queryable" else None,
                settle_seconds=1,
            )
            policy = {"external": True, "lease_seconds": LEASE_SECONDS, "effects": (effect,)}
            name = f"faults.{kind}"
            stack.enter_context(consuming(charge, name=name, types=(kind,), retry=_RETRY, **policy))
        yield


def deliver(books: Path, *kinds: str) -> None:
    """One message for each kind."""
    with declared(books):
        send(*(delivery(kind, type=kind, session=kind) for kind in kinds or KINDS))


def heal(books: Path) -> dict[str, Fate]:
    """Workers and clock go on without a fault until only a person could do more; what became."""
    with declared(books):
        Inbox().settle()
    return fates(books)


def fates(books: Path) -> dict[str, Fate]:
    """What became of each charge so far."""
    found = rows(
        "SELECT m.key, s.state, e.state, e.decided_by FROM comboio_message m"
        " JOIN comboio_message_state s USING (id) JOIN comboio_effect e ON e.message_id = m.id"
    )
    return {kind: _fate(Provider(books, kind), *values) for kind, *values in found}


def _fate(provider: Provider, message: str, effect: str, by: str) -> Fate:
    name = f"charged/{provider.kind}"
    query = "SELECT count(*) FROM auth_group WHERE name = %(name)s"
    calls, acts = provider.read("calls"), provider.read("acts")
    assert len(set(calls)) <= 1, calls
    return Fate(
        message=message,
        effect=effect,
        calls=len(calls),
        acts=len(acts),
        rows=one(query, name=name),
        by=by,
    )


def known(*, calls: int = 1, by: str = "call") -> Fate:
    """Done once, on both sides."""
    return Fate(message="done", effect="completed", calls=calls, acts=1, rows=1, by=by)


DOUBT = Fate(message="in_doubt", effect="in doubt", calls=1, acts=1, rows=0, by="")
# What must follow when the provider acted and its answer is lost for good.
SETTLED = {"keyed": known(calls=2), "queryable": known(by="probe"), "neither": DOUBT}


def assert_ends_well(books: Path) -> None:
    """A person decides what only a person can; then each is done once, and the books are right."""
    query = "SELECT e.id, e.version FROM comboio_effect e WHERE e.state = 'in doubt'"
    for number, seen in rows(query):
        effects.mark_done(CLARA, number, seen=seen, reference="r-1", reason="seen in their books")
        assert one("SELECT count(*) FROM comboio_audit WHERE object_id = %(id)s", id=number) == 1
    ends = heal(books)
    assert {(e.message, e.effect, e.acts, e.rows) for e in ends.values()} == {
        ("done", "completed", 1, 1)
    }
    world.assert_settled(*ends, state="done")
    assert world.counted("effects", "completed") == len(ends)
    assert world.counted("processed", "done") == len(ends)
    assert one("SELECT count(*) FROM comboio_alert WHERE state = 'open'") == 0
