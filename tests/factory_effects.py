"""Rows of effects outside the transaction: calls, evidence, messages in doubt, leases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests import factories
from tests.rows import insert, one, rows, run


def effect(  # noqa: PLR0913 - the columns a test may want to choose, by name
    message_id: int,
    *,
    name: str = "charge",
    kind: str = "queryable",
    state: str = "in doubt",
    last_step: str | None = None,
    request: Mapping[str, Any] | None = None,
    result: Any = None,
    reference: str = "",
    error: str = "",
    decided_by: str = "",
    conflict: str = "",
    settle_seconds: float = 2.0,
    seconds_ago: float = 60.0,
) -> int:
    """An effect of a message, called so many seconds ago; its id."""
    body = json.dumps(request or {"amount_cents": 1250, "currency": "EUR"})
    at = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    is_settled = state in ("completed", "failed")
    steps = {"completed": "answered", "failed": "refused", "in doubt": "no answer"}
    return int(
        insert(
            "comboio_effect",
            message_id=message_id,
            consumer=one("SELECT consumer FROM comboio_message WHERE id = %(m)s", m=message_id),
            name=name,
            key=f"comboio-{message_id}-{name}-{hashlib.sha256(name.encode()).hexdigest()[:6]}",
            kind=kind,
            request=body,
            request_hash=hashlib.sha256(body.encode()).digest()[:16],
            state=state,
            last_step=last_step or steps.get(state, "called"),
            calls=1,
            result=None if result is None else json.dumps(result),
            reference=reference,
            error=error,
            settle_seconds=settle_seconds,
            key_until=at + timedelta(days=1),
            started_at=at,
            called_at=at,
            settled_at=at + timedelta(seconds=1) if is_settled else None,
            probe_at=datetime.now(UTC) + timedelta(seconds=90)
            if state == "in doubt" and kind == "queryable"
            else None,
            decided_by=decided_by or ("call" if is_settled else ""),
            conflict=conflict,
        )
    )


def in_doubt(
    consumer_id: int,
    *,
    session: str = "acc-1",
    kind: str = "queryable",
    name: str = "charge",
    attempts: int = 1,
    seconds_ago: float = 60.0,
    **message: Any,
) -> tuple[int, int]:
    """A message in doubt with its effect and alert, nothing known of the outcome; both ids."""
    at = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    message = {"received_at": at - timedelta(seconds=1)} | message
    number = factories.message(consumer_id, state="elsewhere", session=session, **message)
    told = "TimeoutError: no answer within 5 s"
    effect_id = effect(number, name=name, kind=kind, error=told, seconds_ago=seconds_ago)
    ((lane, session_id),) = rows(
        "SELECT lane, session FROM comboio_message WHERE id = %(m)s", m=number
    )
    insert(
        "comboio_in_doubt",
        id=number,
        consumer=consumer_id,
        lane=lane,
        session=session_id,
        effect_id=effect_id,
        attempts=attempts,
        at=at + timedelta(seconds=1),
    )
    factories.alert(
        consumer_id,
        kind="effect in doubt",
        subject=str(effect_id),
        title=f"{name}: nobody knows whether it happened ({told})",
        target=effect_id,
    )
    evidence(
        effect_id,
        source="call",
        verdict="cannot tell",
        detail={"error": told},
        seconds_ago=seconds_ago - 1,
    )
    return number, effect_id


def evidence(
    effect_id: int,
    *,
    source: str = "probe",
    verdict: str = "cannot tell",
    actor: str = "",
    detail: Mapping[str, Any] | None = None,
    seconds_ago: float = 0.0,
) -> int:
    """One thing learnt about an effect; its id."""
    if source == "probe":
        run("UPDATE comboio_effect SET probes = probes + 1 WHERE id = %(e)s", e=effect_id)
    number = insert(
        "comboio_evidence",
        effect_id=effect_id,
        source=source,
        verdict=verdict,
        actor=actor,
        at=datetime.now(UTC) - timedelta(seconds=seconds_ago),
        detail=json.dumps(detail or {}),
    )
    return int(number)


def conflict(effect_id: int, *, text: str = "the provider says that it was not done") -> None:
    """Evidence against a decided effect, with its alert."""
    evidence(effect_id, verdict="not done", detail={"answer": "no such charge"})
    run("UPDATE comboio_effect SET conflict = %(t)s WHERE id = %(e)s", t=text, e=effect_id)
    owner = one("SELECT consumer FROM comboio_effect WHERE id = %(e)s", e=effect_id)
    factories.alert(
        owner, kind="conflict", subject=str(effect_id), title=f"charge: {text}", target=effect_id
    )


def lease(message_id: int, *, slot: int = 1, seconds_left: float = 20.0, renewals: int = 2) -> int:
    """The lease of a ready message's session; its fence."""
    ((lane, session, owner),) = rows(
        "SELECT lane, session, consumer FROM comboio_message WHERE id = %(m)s", m=message_id
    )
    fence = insert(
        "comboio_lease",
        returning="fence",
        session=session,
        lane=lane,
        consumer=owner,
        message_id=message_id,
        slot=slot,
        renewals=renewals,
        expires_at=datetime.now(UTC) + timedelta(seconds=seconds_left),
    )
    return int(fence)
