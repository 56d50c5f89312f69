"""One text in every field that somebody else may fill, and the addresses that show it."""

from __future__ import annotations

import json
from urllib.parse import quote

from tests import factories, factory_effects, factory_figures, factory_order, factory_requeues
from tests.rows import insert, one, run


def fill(text: str) -> list[str]:
    """Fill every field with the text; the pages of the rows and the filters that name it."""
    owner = factories.consumer(name=f"consumer {text}", when_dead="hold", held_by=text)
    run("UPDATE comboio_consumer SET held_reason = %(t)s WHERE id = %(c)s", t=text, c=owner)
    dead = _message(owner, text, key=text, session=text, state="dead", holds=True)
    factory_order.revision(dead, f'{{"text": "{quote(text)}"}}', actor=text, reason=text)
    factory_figures.event(
        dead, kind="failed", actor=text, detail={"error_class": text, "error": text}
    )
    discarded = _message(owner, text, key=f"discarded {text}", session="", state="discarded")
    run("UPDATE comboio_discarded SET note = %(t)s, discarded_by = %(t)s", t=text)
    places = [f"/messages/{dead}/", f"/messages/{dead}/correct/", f"/messages/{discarded}/"]
    places += _held(owner, text) + _mismatch(owner, text) + _effect(owner, text)
    places.append(f"/consumers/{owner}/")
    places.append(f"/sessions/{factory_order.session_of(dead)}/")
    bulk = factory_requeues.requeue(owner, failed=(dead,), why=text)
    run(
        "UPDATE comboio_bulk SET actor = %(t)s, reason = %(t)s, cause = %(t)s WHERE id = %(b)s",
        t=text,
        b=bulk,
    )
    places.append(f"/requeues/{bulk}/")
    _records(owner, text)
    factory_figures.snapshot()
    named = quote(text, safe="")
    places += [f"/{noun}={named}" for noun in ("audit/?actor", "messages/?q", "audit/?verb")]
    places += [f"/dead-letters/?cause={named}", f"/requeues/plan/?cause={named}"]
    return [*places, *(f"/duplicates/?show={way}" for way in ("consumer", "origin", "type"))]


def _message(
    owner: int, text: str, *, key: str, session: str, state: str, holds: bool = False
) -> int:
    return factories.message(
        owner,
        state=state,
        session=session,
        key=key,
        type=text,
        origin=text,
        payload={text: text},
        headers={text: text},
        content_type="application/json",
        error=f"{text}: {text}",
        cause=text,
        holds=holds,
    )


def _held(owner: int, text: str) -> list[str]:
    number = _message(owner, text, key=f"held {text}", session=f"held {text}", state="ready")
    session = factory_order.session_of(number)
    factories.gate(session, held_by=text)
    run("UPDATE comboio_gate SET held_reason = %(t)s WHERE session = %(s)s", t=text, s=session)
    factories.duplicate(number)
    return [f"/sessions/{session}/"]


def _mismatch(owner: int, text: str) -> list[str]:
    places = []
    for verdict in (None, "keep first"):
        first = _message(owner, text, key=f"{verdict} {text}", session="", state="done")
        number = factories.mismatch(
            first, payload={text: f"other {text}"}, headers={text: f"x {text}"}, verdict=verdict
        )
        places.append(f"/mismatches/{number}/")
    run(
        "UPDATE comboio_mismatch SET type = %(t)s, correlation_id = %(t)s, traceparent = %(t)s,"
        " verdict_by = CASE WHEN verdict IS NOT NULL THEN %(t)s END,"
        " verdict_reason = CASE WHEN verdict IS NOT NULL THEN %(t)s END",
        t=text,
    )
    return places


def _effect(owner: int, text: str) -> list[str]:
    number, effect = factory_effects.in_doubt(
        owner, session=f"doubt {text}", name=text, key=f"doubt {text}", type=text, origin=text
    )
    factory_effects.evidence(
        effect, source="person", actor=text, verdict="not done", detail={text: text, "note": text}
    )
    run(
        "UPDATE comboio_effect SET escalated_by = %(t)s, error = %(t)s, reference = %(t)s"
        " WHERE id = %(e)s",
        t=text,
        e=effect,
    )
    settled = factory_effects.effect(
        factories.message(owner, state="done", session=""), name=f"x {text}", state="completed"
    )
    factory_effects.conflict(settled, text=text)
    return [f"/reconcile/{effect}/", f"/reconcile/{settled}/", f"/messages/{number}/"]


def _records(owner: int, text: str) -> None:
    """Alerts, the audit, workers, a throttled consumer."""
    for state in ("open", "acknowledged", "resolved"):
        number = factories.alert(owner, subject=text, title=text, state=state)
        run("UPDATE comboio_alert SET acknowledged_by = %(t)s WHERE id = %(a)s", t=text, a=number)
        run("UPDATE comboio_alert SET state = 'resolved' WHERE id = %(a)s", a=number)
    factories.alert(owner, subject=f"open {text}", title=text)
    insert(
        "comboio_audit",
        actor=text,
        verb="hold",
        object_kind="message",
        object_id=one("SELECT max(id) FROM comboio_message"),
        reason=text,
        detail=json.dumps({text: text}),
    )
    insert("comboio_worker", returning="slot", process=text, host=text, pid=1, ids=[])
    factory_order.throttle(factories.consumer(name=f"away {text}"), error=text)
