"""The handlers of a run. Each notes its start in the history; what it commits are rows."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import psycopg
from django.db import connection, transaction

from monitor import Call, Effect, Evidence, Message, NotDone, Retry, consumer
from monitor.engine.http_call import HttpClient
from proof import history
from proof.profiles import LEASE_SECONDS, PROVIDER_URL
from proof.workload.plan import EXTERNAL, HTTP, POISON_ATTEMPTS, QUEUE

CALL_SECONDS = 0.5
# Longer than a call, than a provider that acts after its caller gave up, and than a worker is
# frozen between the record of a call and the call.
SETTLE_SECONDS = 5.0
QUICK = Retry(limit=5, base_seconds=0.02, cap_seconds=0.2)
_PATIENT = Retry(limit=40, base_seconds=0.05, cap_seconds=0.5)
_POISON = Retry(limit=POISON_ATTEMPTS, base_seconds=0.02, cap_seconds=0.1)

Handler = Callable[[dict[str, Any], Message], None]


class RefusedError(Exception):
    """What a flaky and a poisonous message raise."""


def transfer(payload: dict[str, Any], message: Message) -> None:
    """Two rows of a ledger whose sum is nothing."""
    _start(message)
    rows = [(payload["from"], -payload["cents"]), (payload["to"], payload["cents"])]
    _cursor().execute(
        "INSERT INTO proof_ledger (key, message_id, account, cents, pid) "
        "VALUES (%s, %s, %s, %s, %s), (%s, %s, %s, %s, %s)",
        [value for row in rows for value in (message.key, message.id, *row, os.getpid())],
    )


def append(payload: dict[str, Any], message: Message) -> None:
    """Read the list of the session and append the message's own number."""
    _start(message)
    _append(payload, message)


def slow(payload: dict[str, Any], message: Message) -> None:
    """The same, but slowly."""
    _start(message)
    time.sleep(payload["seconds"])
    _append(payload, message)


def flaky(payload: dict[str, Any], message: Message) -> None:
    """Fails a few times before it appends."""
    _start(message)
    _append(payload, message)
    if message.attempt <= payload["fails"]:
        _end(message, "fails")
        raise RefusedError("not yet")


def poison(payload: dict[str, Any], message: Message) -> None:
    """Writes, and always fails: what it wrote must be gone."""
    _start(message)
    _append(payload, message)
    _end(message, "fails")
    raise RefusedError("never")


def long(payload: dict[str, Any], message: Message) -> None:
    """Works longer than its lease, which somebody must renew meanwhile."""
    _external(payload, message, work=lambda: time.sleep(payload["seconds"]))


def charge(payload: dict[str, Any], message: Message) -> None:
    """Charge through the provider, then keep a row."""
    request = {"amount_cents": payload["n"] + 1}
    _external(payload, message, work=lambda: message.effect("charge", request))


def _external(payload: dict[str, Any], message: Any, *, work: Callable[[], Any]) -> None:
    fence = message.hands.lease.fence
    _start(message, fence=fence)
    try:
        work()
        with message.transaction():
            _cursor().execute(
                "INSERT INTO proof_charge (key, message_id, consumer, session, fence, pid) "
                "VALUES (%s, %s, %s, %s, %s, %s)",
                [message.key, message.id, message.consumer, message.session, fence, os.getpid()],
            )
    except BaseException as error:
        _end(message, "fails", error=type(error).__qualname__)
        raise
    _end(message, "finished", fence=fence)


def _append(payload: dict[str, Any], message: Message) -> None:
    cursor = _cursor()
    cursor.execute(
        "SELECT place, n FROM proof_appended WHERE consumer = %s AND session = %s "
        "ORDER BY id DESC LIMIT 1",
        [message.consumer, message.session],
    )
    place, behind = cursor.fetchone() or (0, None)
    cursor.execute(
        "INSERT INTO proof_appended (consumer, session, n, place, behind, key, message_id, pid) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            *(message.consumer, message.session, payload["n"], place + 1, behind),
            *(message.key, message.id, os.getpid()),
        ],
    )


def _call(kind: str, call: Call) -> Any:
    digest = hashlib.sha256(orjson.dumps(call.request)).hexdigest()[:16]
    note = partial(history.write, effect=call.key, kind=kind, id=call.message_id)
    note("call", request=digest)
    try:
        answer = HttpClient(url=_url(kind), timeout_seconds=CALL_SECONDS).act(call)
    except NotDone:
        note("denied")
        raise
    except BaseException:
        note("unanswered")
        raise
    note("answered")
    return answer


def _ask(call: Call) -> Evidence:
    url = _url("queryable") + "/{key}"
    evidence = HttpClient(url=url, timeout_seconds=CALL_SECONDS).ask(call)
    history.write("asked", effect=call.key, id=call.message_id, told=str(evidence.told))
    return evidence


def _url(kind: str) -> str:
    return f"{os.environ[PROVIDER_URL]}/{kind}/charges"


def _start(message: Message, **more: Any) -> None:
    history.write(
        "start",
        key=message.key,
        id=message.id,
        consumer=message.consumer,
        attempt=message.attempt,
        **more,
    )
    if connection.in_atomic_block and not connection.run_on_commit:
        transaction.on_commit(partial(history.write, "committed"))


def _end(message: Message, event: str, **more: Any) -> None:
    history.write(event, key=message.key, id=message.id, **more)


def _cursor() -> psycopg.Cursor[Any]:
    # The way docs/handlers.md shows for handlers that must be fast.
    return psycopg.Cursor(connection.connection)


def _effect(kind: str) -> Effect:
    return Effect(
        name="charge",
        kind=kind,
        call=partial(_call, kind),
        reconcile=_ask if kind == "queryable" else None,
        settle_seconds=SETTLE_SECONDS,
    )


def declare() -> None:
    """Every handler for both sources, external ones for HTTP only."""
    atomic: dict[str, Handler] = {
        "transfer": transfer,
        "append": append,
        "slow": slow,
        "flaky": flaky,
        "poison": poison,
    }
    for source in (HTTP, QUEUE):
        for kind, handler in atomic.items():
            retry = _POISON if kind == "poison" else QUICK
            name, types = f"{source}.{kind}", (kind,)
            consumer(name, source=source, types=types, session="session", retry=retry)(handler)
    for kind in EXTERNAL:
        consumer(
            f"{HTTP}.{kind}",
            source=HTTP,
            types=(kind,),
            session="session",
            external=True,
            lease_seconds=LEASE_SECONDS,
            effects=() if kind == "long" else (_effect(kind),),
            retry=_PATIENT,
        )(long if kind == "long" else charge)


declare()
