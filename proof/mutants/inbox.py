"""Bugs of the inbox: who is first, what is the same, and when a broker is told."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.domain.message import Delivery
from monitor.sources.acceptance import Acceptance
from monitor.store import inbox
from proof.mutants.mutant import Mutant, put, swap


def _check_then_insert() -> None:
    start, _, rest = inbox.SQL["accept"].partition("judged AS (")
    insert, _, rest = rest.partition("ON CONFLICT (consumer, key)")
    same = "d.consumer = batch.consumer AND d.key = batch.dedup_key"
    first = f"(SELECT min(d.message_id) FROM comboio_dedup d WHERE {same})"  # noqa: S608
    insert = insert.replace("AS d ", "").replace("ORDER", f"WHERE {first} IS NULL ORDER")
    count = "UPDATE comboio_dedup d SET duplicates = d.duplicates + (d.fingerprint = batch.fingerprint)::int * (1 + repeats), mismatches = d.mismatches + (d.fingerprint <> batch.fingerprint)::int * (1 + repeats)"  # noqa: E501
    update = f"{count} FROM batch WHERE {same} AND d.message_id = {first} RETURNING d.*"
    judged = f"added AS ({insert} RETURNING *), counted AS ({update}), judged AS (TABLE added UNION ALL TABLE counted)"  # noqa: E501
    inbox.SQL["accept"] = f"{start}{judged}, verdicts{rest.partition('), verdicts')[2]}"


def _mismatch_as_duplicate() -> None:
    swap(inbox.SQL, "accept", "d.fingerprint = EXCLUDED.fingerprint", "true")
    swap(inbox.SQL, "accept", "j.fingerprint = b.fingerprint AS is_same", "true AS is_same")


def _acknowledge_first() -> None:
    store = Acceptance.store

    def acknowledged(self: Acceptance, deliveries: Sequence[Delivery]) -> None:
        self._source.acknowledge()
        store(self, deliveries)

    put(Acceptance, "store", acknowledged)


def _lost_wake_up() -> None:
    swap(inbox.SQL, "accept", "pg_notify('comboio_ready', '')", "''")


MUTANTS = (
    Mutant(
        name="check then insert",
        rule="The insert itself decides who is first, not a look before it.",
        seam="inbox.sql accept",
        scene="deliveries",
        expected=("conservation", "ledger"),
        apply=_check_then_insert,
        schema="ALTER TABLE comboio_dedup DROP CONSTRAINT comboio_dedup_pkey",
    ),
    Mutant(
        name="mismatch as duplicate",
        rule="Another payload under a known key is set apart, never taken for a copy.",
        seam="inbox.sql accept",
        scene="deliveries",
        expected=("duplicates",),
        apply=_mismatch_as_duplicate,
    ),
    Mutant(
        name="acknowledgement before commit",
        rule="A broker is told that a message is safe after its commit, not before.",
        seam="sources/acceptance.py store",
        scene="receivers",
        expected=("conservation",),
        apply=_acknowledge_first,
    ),
    Mutant(
        name="lost wake-up",
        rule="An idle worker is woken by the commit of an ingest, not by its next look.",
        seam="inbox.sql accept",
        scene="wake-ups",
        expected=("wake_ups",),
        apply=_lost_wake_up,
    ),
)
