"""Corrected texts of a message: who made each, why, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from monitor.domain.redaction import Policy
from monitor.domain.seals import sealed
from monitor.reports import json_diff, redacting
from monitor.reports.json_diff import Diff
from monitor.reports.page import FIRST_ID
from monitor.reports.payloads import SHOWN_BYTES
from monitor.reports.reading import Cursor, reading
from monitor.store import sql

SQL = sql.load(__file__)

_COMPARED = 3  # each comparison reads two payloads of up to 1 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One corrected text. diff: from the accepted text to it; None: not compared or not shown."""

    revision: int
    at: datetime
    actor: str
    reason: str
    payload_bytes: int
    diff: Diff | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The text that a message runs with now. revision 1 is what was accepted: by nobody, at None.

    text: None when it cannot be edited as text: longer than 64 kB, no UTF-8, or odd line ends.
    What is redacted in it is sealed: see domain/seals.py. redacted: how many values are.
    needs_reveal: its redacted parts cannot be sealed, so only the whole can be edited.
    seen: the version of the dead letter that replay names, None when it is not dead.
    """

    key: str
    consumer_id: int
    session_id: int | None
    revision: int
    actor: str
    at: datetime | None
    content_type: str
    text: str | None
    redacted: int
    needs_reveal: bool
    payload_bytes: int
    seen: int | None

    @property
    def is_too_large(self) -> bool:
        """Whether the text is longer than what is edited here."""
        return self.payload_bytes > SHOWN_BYTES


def of_message(message_id: int, *, is_revealed: bool) -> tuple[Correction, ...]:
    """The newest 20 corrections; is_revealed: with what the newest three changed."""
    with reading() as cursor:
        cursor.execute(SQL["owner"], {"id": message_id})
        owner = cursor.fetchone()
        if owner is None:
            return ()
        policy = redacting.policy(*owner)
        cursor.execute(SQL["of_message"], {"id": message_id})
        return tuple(
            Correction(
                revision=row[0],
                at=row[1],
                actor=row[2],
                reason=policy.mask(row[3]),
                payload_bytes=row[4],
                diff=_diff(cursor, message_id, row[0], policy)
                if is_revealed and at < _COMPARED
                else None,
            )
            for at, row in enumerate(cursor.fetchall())
        )


def current(message_id: int, *, is_whole: bool = False) -> Current | None:
    """The text that a message runs with now; None: it is not there. For revealers only.

    is_whole: nothing of it is redacted; only for a look that the audit knows.
    """
    if abs(message_id) > FIRST_ID:
        return None
    with reading() as cursor:
        cursor.execute(SQL["current"], {"id": message_id, "count": SHOWN_BYTES})
        row = cursor.fetchone()
    if row is None:
        return None
    text = None if row[8] > SHOWN_BYTES else editable(bytes(row[7]))
    policy = redacting.OPEN if is_whole else redacting.policy(row[10], row[11])
    shown = None if text is None else sealed(text, policy)
    return Current(
        key=row[0],
        consumer_id=row[1],
        session_id=row[2],
        revision=row[3],
        actor=row[4],
        at=row[5],
        content_type=row[6],
        text=None if shown is None else shown.text,
        redacted=0 if shown is None else shown.count,
        needs_reveal=text is not None and shown is None,
        payload_bytes=row[8],
        seen=row[9],
    )


def editable(payload: bytes) -> str | None:
    """The text of a payload that a browser gives back as it got it, but for its line ends."""
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return None
    returns, pairs = text.count("\r"), text.count("\r\n")
    is_even = not returns or returns == pairs == text.count("\n")
    return text if is_even and "\0" not in text else None


def _diff(cursor: Cursor, message_id: int, revision: int, policy: Policy) -> Diff | None:
    cursor.execute(SQL["texts"], {"id": message_id, "revision": revision})
    row = cursor.fetchone()
    return None if row is None else json_diff.compare(bytes(row[0]), bytes(row[1]), policy)
