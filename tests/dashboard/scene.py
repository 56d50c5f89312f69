"""A console full of life: rows of every state, hostile texts among them, for pages and pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from monitor.domain.triage import KINDS
from tests import (
    factories,
    factory_effects,
    factory_figures,
    factory_order,
    factory_requeues,
    factory_triage,
)
from tests.rows import one, run

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><svg onload=alert(1)>",
    "{{7*7}}{% load i18n %}",
    "javascript:alert(1)",
    "abc\u202egnp.exe",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Ids of the rows that tests go to."""

    payments: int
    dead: int
    dead_head: int
    held_session: int
    mismatch: int
    done: int
    hostile: tuple[int, ...]
    doubted: int
    effect: int
    doubted_session: int
    gap_session: int
    corrected: int
    groups: tuple[int, ...]


def fill() -> Scene:
    """Fill the database; what the pages show then needs a person in several places."""
    payments = factories.consumer(name="payments.apply", when_dead="hold")
    triage = factories.consumer(name="github.triage", source="github")
    mail = factories.consumer(name="mail.receipts")
    factories.consumer(name="audit.copy", held_by="bert")
    done = _history(payments, triage)
    dead_head = _held_session(payments)
    dead = _dead_letters(payments, triage, mail)
    _waiting(payments, triage)
    mismatch = _mismatches(payments, done)
    doubted, effect = _effects()
    gap_session, corrected = _order()
    hostile = tuple(_hostile(mail, text) for text in HOSTILE)
    factory_requeues.requeue(mail, failed=(dead,), why="3 of 12 failed again, more than 20 %")
    _figures(payments, triage, mail, dead)
    return Scene(
        payments=payments,
        dead=dead,
        dead_head=dead_head,
        held_session=_session_of(dead_head),
        mismatch=mismatch,
        done=done,
        hostile=hostile,
        doubted=doubted,
        effect=effect,
        doubted_session=_session_of(doubted),
        gap_session=gap_session,
        corrected=corrected,
        groups=_groups(mail),
    )


def _groups(mail: int) -> tuple[int, ...]:
    """An alert of each kind that makes groups; somebody looks after one of them."""
    cause = one("SELECT cause FROM comboio_dead WHERE error LIKE 'SMTP%%' LIMIT 1")
    factory_triage.said(mail, kind="dead letter", cause=cause, owner="anna", note="mx1 is replaced")
    found = "SELECT max(id) FROM comboio_alert WHERE kind = %(kind)s AND state <> 'resolved'"
    return tuple(one(found, kind=str(kind)) for kind in KINDS)


def _history(payments: int, triage: int) -> int:
    """Some messages that are done, with duplicates; the last one's id."""
    number = 0
    for at in range(24):
        number = factories.message(
            payments,
            state="done",
            session=f"acc-{at % 5}",
            sequence=at // 5 + 1,
            payload={
                "account": f"acc-{at % 5}",
                "amount_cents": 1250 + at,
                "currency": "EUR",
                "lines": [{"sku": "TICKET-LX-OP", "quantity": 2}, {"sku": "SEAT", "quantity": 1}],
            },
            received_at=_ago(60 * at),
            result={"balance": 40_000 + at},
        )
        for gap in range(at % 4):
            cause = ("repeated", "concurrent", "redelivered")[gap]
            factories.duplicate(number, cause=cause, gap_seconds=4.0 ** (gap + at % 5))
        factories.message(triage, state="done", session=f"octo/repo#{at}", type="issues")
    return number


def _held_session(payments: int) -> int:
    for sequence in range(1, 5):
        factories.message(
            payments, state="done", session="acc-4711", sequence=sequence, received_at=_ago(900)
        )
    head = factories.message(
        payments,
        state="dead",
        session="acc-4711",
        sequence=5,
        key="pay-2026-07-4711-5",
        payload={"account": "acc-4711", "amount_cents": 9_900_000, "currency": "EUR"},
        error="GatewayRejectedError: limit of acc-4711 exceeded (9 900 000 > 5 000 000)",
        holds=True,
        received_at=_ago(432),
    )
    for sequence in range(6, 20):
        factories.message(
            payments, session="acc-4711", sequence=sequence, received_at=_ago(420 - sequence)
        )
    for attempt in range(1, 6):
        factory_figures.event(
            head,
            kind="failed",
            attempt=attempt,
            detail={"error_class": "GatewayRejectedError", "error": "limit exceeded"},
        )
    run("UPDATE comboio_gate SET since = now() - interval '432 s' WHERE dead_message IS NOT NULL")
    return head


def _dead_letters(payments: int, triage: int, mail: int) -> int:
    number = 0
    for at in range(14):
        number = factories.message(
            mail,
            state="dead",
            session=f"customer-{at}",
            error="SMTPServerDisconnected: Connection unexpectedly closed: timed out",
            received_at=_ago(600 + 11 * at),
        )
    for at in range(3):
        factories.message(
            triage,
            state="dead",
            session=f"octo/repo#{90 + at}",
            type="issues",
            error="KeyError: 'milestone'",
        )
    factories.message(
        payments,
        state="dead",
        session="acc-2",
        reason="malformed",
        payload=b"\x00\xff\x10 not json",
        content_type="application/octet-stream",
        error="RejectedDeliveryError: not valid JSON at byte 0",
    )
    factories.message(
        payments, state="discarded", session="acc-3", error="ValueError: test message"
    )
    return number


def _waiting(payments: int, triage: int) -> None:
    for at in range(30):
        factories.message(payments, session=f"acc-{100 + at % 4}", received_at=_ago(40 - at))
    factories.message(
        triage, state="waiting", session="octo/repo#7", type="issues", error="TimeoutError: api"
    )


def _mismatches(payments: int, done: int) -> int:
    second = {
        "account": "acc-3",
        "amount_cents": 12_730,
        "currency": "EUR",
        "lines": [{"sku": "TICKET-LX-OP", "quantity": 2}, {"sku": "BIKE", "quantity": 1}],
        "note": "corrected by support",
    }
    number = factories.mismatch(
        done, payload=second, headers={"user-agent": "producer/2", "x-build": "412"}
    )
    other = factories.message(payments, state="done", session="acc-9")
    factories.mismatch(other, verdict="keep first")
    return number


def _effects() -> tuple[int, int]:
    """Charges of every kind of provider: in doubt, settled, and one with evidence against it."""
    owner = factories.consumer(name="payments.charge")
    charge = {"amount_cents": 9900, "currency": "EUR", "account": "acc-77"}
    doubted, effect = factory_effects.in_doubt(
        owner, session="acc-77", key="charge-2026-07-0077", payload=charge, seconds_ago=190
    )
    none = {"status": 404, "answer": "no charge with this key"}
    factory_effects.evidence(effect, verdict="not done", detail=none, seconds_ago=188.5)
    away = {"status": 503}
    factory_effects.evidence(effect, verdict="cannot tell", detail=away, seconds_ago=128)
    factory_figures.event(doubted, kind="in doubt", detail={"effect": "charge"})
    for sequence in range(3):
        factories.message(owner, session="acc-77", sequence=sequence + 2)
    odd, script = HOSTILE[1], HOSTILE[0]
    hostile = factories.message(owner, state="done", session="acc-79")
    factory_effects.evidence(
        factory_effects.effect(hostile, name=odd, state="completed", reference=script, error=odd),
        detail={script: odd, "reference": script},
    )
    factory_effects.in_doubt(owner, session="acc-78", kind="neither", name="fax", seconds_ago=4000)
    for at in range(4):
        number = factories.message(owner, state="done", session=f"acc-8{at}")
        found = factory_effects.effect(
            number,
            kind="keyed",
            state="completed",
            reference=f"ch_{at}",
            result={"charge": f"ch_{at}"},
            decided_by=("call", "probe", "callback", "anna")[at],
        )
        factory_effects.evidence(
            found, source="call", verdict="done", detail={"reference": f"ch_{at}"}
        )
    factory_effects.conflict(found)
    refused = factories.message(owner, state="dead", session="acc-90", error="EffectRefused: 402")
    factory_effects.effect(refused, state="failed", error="402 card declined")
    running = factories.message(owner, session="acc-91")
    factory_effects.lease(running, slot=factory_figures.worker())
    return doubted, effect


def _order() -> tuple[int, int]:
    """Sessions by number: one with a gap and a delayed message, one whose head was corrected."""
    owner = factory_order.numbered(name="orders.book")
    for number in (1, 2, 3):
        factory_order.message(owner, number, state="done", session="ord-9", key=f"ord-9-{number}")
    later = [factory_order.message(owner, number, session="ord-9") for number in (6, 7, 9, 12)]
    factory_order.delay(later[-1])
    factory_order.message(owner, 2, state="dead", session="ord-9", reason="stale", error="late: 2")
    session = _session_of(later[0])
    factory_order.gap(session, missing=4, before=6)
    text = '{"account": "ord-8", "amount_cents": 1250}'
    dead = factory_order.message(
        owner, 1, state="dead", session="ord-8", payload=text, holds=True, error="ValueError: cents"
    )
    factory_order.revision(dead, text.replace("1250", "1205"))
    factory_order.progress(_session_of(dead), expects=2)
    for number in (2, 3):
        factory_order.message(owner, number, session="ord-8")
    factory_order.throttle(factories.consumer(name="sms.send"))
    return session, dead


def _hostile(consumer: int, text: str) -> int:
    return factories.message(
        consumer,
        state="dead",
        session=text,
        key=text,
        type=text,
        origin=text,
        payload={text: text},
        headers={text: text},
        error=f"{text}: {text}",
        cause=f"poison: {text}",
    )


def _figures(payments: int, triage: int, mail: int, dead: int) -> None:
    for minute in range(60):
        wave = 30 + 18 * math.sin(minute / 7)
        for consumer, scale in ((payments, 1.0), (triage, 0.3), (mail, 0.08)):
            _minute(consumer, minute, "received", "new", round(wave * scale * 20))
            _minute(consumer, minute, "processed", "done", round(wave * scale * 19.5))
            _minute(consumer, minute, "handler_seconds_bucket", "0.01", round(wave * scale * 18))
            _minute(consumer, minute, "handler_seconds_bucket", "0.25", round(wave * scale * 1.3))
        _minute(payments, minute, "processed", "failed", round(wave / 4 if 20 < minute < 26 else 1))
        for cause, share in (("redelivered", 9), ("repeated", 4), ("concurrent", 2)):
            burst = 6 if 20 < minute < 26 else 1
            _minute(payments, minute, "duplicates", cause, share * burst + minute % 3)
        _minute(payments, minute, "received", "duplicate", 15)
    _totals()
    factory_figures.snapshot()
    factory_figures.worker(process="worker", ids=[dead])
    factory_figures.worker(process="worker")
    factory_figures.worker(process="clock", seconds_ago=3)
    at_work = one("SELECT max(id) FROM comboio_ready WHERE lane / 256 = %(c)s", c=triage)
    factory_figures.worker(process="child", ids=[at_work])
    factory_figures.deploy("2026.06.3", _ago(7200))
    factory_figures.deploy("2026.07.1", _ago(1500))
    for name, runs, seconds in (("payment", 1800, 41.5), ("refund", 120, 22.4), ("note", 900, 2.1)):
        factory_figures.type_hour(payments, name, runs=runs, seconds=seconds)
    busy = one("SELECT min(id) FROM comboio_ready WHERE lane / 256 = %(c)s", c=payments)
    factory_figures.worker(process="child", ids=[busy])
    factory_figures.audit(actor="anna", verb="requeue", object_id=dead)
    factory_figures.audit(actor="bert", verb="hold", kind="consumer", object_id=payments)


def _totals() -> None:
    """Totals that agree with the rows, so that the books balance."""
    run(
        "INSERT INTO comboio_total SELECT consumer, 'received', 'new', count(*)"
        " FROM comboio_message"
        " GROUP BY 1 UNION ALL SELECT consumer, 'processed', 'done', count(*) FROM comboio_done"
        " GROUP BY 1 UNION ALL SELECT consumer, 'duplicates', cause, count(*) * 97"
        " FROM comboio_duplicate GROUP BY 1, 3"
    )


def _minute(consumer: int, ago: int, name: str, label: str, value: float) -> None:
    run(
        "INSERT INTO comboio_rollup AS r (minute, consumer, name, label, value)"
        " VALUES (date_trunc('minute', now()) - make_interval(mins => %(ago)s), %(c)s, %(name)s,"
        " %(label)s, %(value)s) ON CONFLICT (minute, consumer, name, label)"
        " DO UPDATE SET value = r.value + excluded.value",
        ago=ago,
        c=consumer,
        name=name,
        label=label,
        value=value,
    )


def _session_of(message_id: int) -> int:
    return int(one("SELECT session FROM comboio_message WHERE id = %(id)s", id=message_id))


def _ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)
