"""The fault matrix as data: which fault strikes in which phase, and what must come out of it.

A cell's test begins with test_<phase>_<fault>_, both in lower case: test_p04_k_… is P4 under K.
tests/faults/test_matrix.py compares this table with the tests that stand beside it.
"""

from __future__ import annotations

FAULTS = {
    "k": "kill -9 of the process at work",
    "z": "a pause longer than its lease",
    "c": "connection cut, or a black hole that swallows the answer",
    "b": "kill -9 of PostgreSQL",
    "q": "kill -9 of the broker, or loss of the link to it",
    "s": "disk full, or an error of the disk",
    "t": "a clock that steps by an hour",
    "l": "locks: timeout, deadlock, terminated session, no free slots",
    "v": "a second actor at the same moment",
}

OUTCOMES = {
    "N": "nothing accepted, the sender sends again",
    "R": "rolled back and run again, effect once",
    "D": "done already: the redelivery is counted as a duplicate, effect once",
    "U": "commit unknown: looked at again, effect once",
    "F": "the fence refuses the stale writer, the new holder does it once",
    "X": "what happened outside is settled as the effect's kind allows",
    "W": "waits, and goes on by itself once the fault has ended",
    "I": "the act shows as applied or not applied, and a repeat is harmless",
}

PHASES = {
    "p00": "before receive",
    "p01": "ingest insert, commit in flight",
    "p02": "inserted, not yet acknowledged",
    "p03": "claimed, handler not started",
    "p04": "in the handler, before the commit",
    "p05": "commit in flight",
    "p06": "committed, not acknowledged",
    "p07": "lease renewal",
    "p08": "external call sent, no answer",
    "p09": "answer received, not marked as completed",
    "p10": "dead-lettering",
    "p11": "requeue, bulk",
    "p12": "retention",
    "p13": "migration, deploy",
    "p14": "outbox dispatch",
    "p15": "takeover",
}

# A cell's first word is its code; "-" stands for a cell that cannot happen.
_ROWS = {
    # phase: k, z, c, b, q, s, t, l, v
    "p00": ("R", "R", "W", "W", "W", "W", "-", "W", "-"),
    "p01": ("N/U", "N/U", "U", "U", "N", "N", "-", "N", "D one row, the rest duplicates"),
    "p02": ("D", "D", "D", "D", "D", "-", "-", "-", "D"),
    "p03": ("R", "F", "W", "W", "-", "W", "F", "W", "D one claimant"),
    "p04": (
        "R",
        "F",
        "R",
        "R",
        "D later",
        "R",
        "F",
        "R attempt not counted for 40P01, 55P03, 57P01, 53300",
        "D one commits",
    ),
    "p05": ("U", "U", "U", "U", "-", "U may be present", "-", "U", "U"),
    "p06": ("D", "D", "D", "D", "D", "-", "-", "-", "D"),
    "p07": (
        "R at expiry",
        "F",
        "F if missed",
        "W",
        "-",
        "W",
        "F by the database's clock only",
        "W renewal tried again",
        "F",
    ),
    "p08": ("X", "X/F", "X", "X", "-", "X", "-", "X", "X asked or keyed, one effect"),
    "p09": ("X", "X/F", "X", "X", "-", "X", "-", "X", "F completed once"),
    "p10": (
        "R or dead, never both or none",
        "F",
        "U",
        "U",
        "-",
        "W",
        "-",
        "W",
        "D one dead record",
    ),
    "p11": ("I", "I", "I", "I", "W outbox", "I", "-", "I", "I one wins, the others are told"),
    "p12": (
        "I batch by batch",
        "-",
        "I",
        "I",
        "-",
        "W",
        "I never younger than the retention by the database's clock",
        "W small batches",
        "D duplicate or new at the boundary, never both",
    ),
    "p13": (
        "I old and new code both run",
        "F",
        "I rerun",
        "I rerun",
        "W",
        "N fails clean",
        "-",
        "W short locks, tried again",
        "W two migrators: one waits",
    ),
    "p14": (
        "D published once or more",
        "F",
        "D again",
        "D again",
        "W order kept in the session",
        "W",
        "-",
        "W",
        "F one dispatcher for each session",
    ),
    "p15": (
        "R the next one takes over",
        "F guarded update",
        "W",
        "W",
        "-",
        "W",
        "F",
        "W skip locked",
        "F completion or takeover: one wins",
    ),
}

MATRIX: dict[tuple[str, str], str] = {
    (phase, fault): outcome
    for phase, row in _ROWS.items()
    for fault, outcome in zip(FAULTS, row, strict=True)
    if outcome != "-"
}

_NO_OUTBOX = "the product has no outbox yet: nothing is dispatched"

# Cells without a test, each with its reason.
NOT_BUILT: dict[tuple[str, str], str] = {
    **{("p14", fault): _NO_OUTBOX for fault in FAULTS if ("p14", fault) in MATRIX},
    ("p11", "q"): _NO_OUTBOX,
}
