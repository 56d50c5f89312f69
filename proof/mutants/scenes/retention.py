"""Messages that grow ten days old are purged, and copies of all of them come again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from monitor.maintenance.retention import PURGES
from proof.checkers.facts import Facts, Violation
from proof.mutants import sending
from proof.mutants.floor import Floor
from proof.mutants.mutant import Scene, without
from proof.profiles import Profile
from proof.workload.batches import Sent

# Longer than a payload is kept, and shorter than a key.
_AGE = """
UPDATE comboio_done SET at = at - interval '10 days';
UPDATE comboio_dead SET at = at - interval '10 days';
UPDATE comboio_message SET received_at = received_at - interval '10 days';
UPDATE comboio_dedup SET seen_at = seen_at - interval '10 days';
UPDATE comboio_session SET created_at = created_at - interval '10 days';
"""
_SENDER = 0
_BATCH = 20


def _play(floor: Floor) -> None:
    floor.fleet.start()
    sending.send(floor)
    floor.drain()
    floor.query(_AGE)
    for purge in PURGES:
        purge.again()
        while purge.is_due():
            purge.run()
    items = list(floor.plan.items())
    for at in range(0, len(items), _BATCH):
        sending.deliver([Sent(item=each) for each in items[at : at + _BATCH]], _SENDER)
    floor.drain()
    floor.tidy_up()


def _retention(facts: Facts) -> Iterator[Violation]:
    """Each copy was known for one, each effect is there once, and what is dead is still there."""
    effects = Counter(row.key for row in facts.booked if row.cents > 0)
    effects.update(row.key for row in facts.appended)
    for item in facts.plan.items():
        is_poison, stored = item.kind == "poison", facts.messages.get(item.key)
        if effects[item.key] != int(not is_poison):
            text = f"{item.kind}: {effects[item.key]} effects"
            yield Violation(kind="doubles", text=text, key=item.key)
        if is_poison and (stored is None or stored.state != "dead"):
            yield Violation(kind="lost", text="it was dead, and nobody removed it", key=item.key)


SCENE = Scene(
    name="retention",
    profile=Profile(
        name="retention",
        messages=240,
        seconds=1,
        senders=2,
        batch=20,
        shares={"append": 0.3, "poison": 0.1},
        long_runs=0,
        duplicates=0,
        mismatches=0,
        accounts=50,
    ),
    play=_play,
    # What is purged has left no row to compare with.
    checks={
        **without("conservation", "ledger", "duplicates", "figures", "session_order"),
        "retention": _retention,
    },
)
