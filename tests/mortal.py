"""Worker processes of the tests that charge through a provider and die at every point of a call.

python -m tests.mortal: a parent that forks workers and a clock, and replaces each one that was
killed, until it gets SIGTERM. It runs on DATABASE_URL, with the provider at PROVIDER_URL; what its
workers did is written down in FOLDER.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.contrib.auth.models import Group  # noqa: E402 - models need the set-up above

from monitor import Call, Effect, Evidence, Message, NotDone, Retry  # noqa: E402
from monitor.domain.consumer import Consumer  # noqa: E402
from monitor.engine import directory, registry  # noqa: E402
from monitor.engine.drain import drain  # noqa: E402
from monitor.engine.http_call import HttpClient, OutcomeUnknownError  # noqa: E402
from monitor.engine.life import Life  # noqa: E402
from monitor.maintenance import reconcile  # noqa: E402

KINDS = ("keyed", "queryable", "neither")
POINTS = ("before the call", "half a request", "a request sent", "after the call", "in the commit")
WORKERS = 3
TIMEOUT_SECONDS = 0.5
_SHARE_OF_A_POINT = 0.012  # of all messages, once each
_RETRY = Retry(limit=25, base_seconds=0.05, cap_seconds=0.5)


def declare() -> None:
    """One external consumer for each kind of provider, of the source "test"."""
    for kind in KINDS:
        effect = Effect(
            name="charge",
            kind=kind,
            call=partial(_call, kind),
            reconcile=_ask if kind == "queryable" else None,
            settle_seconds=2 * TIMEOUT_SECONDS + 1,
        )
        registry.add(
            Consumer(
                name=f"test.{kind}",
                source="test",
                types=(kind,),
                handler=_charge,
                wants_message=True,
                external=True,
                lease_seconds=2.0,
                effects=(effect,),
                retry=_RETRY,
            )
        )
    directory.forget()


def retract() -> None:
    """The consumers are gone again."""
    for kind in KINDS:
        registry.remove(f"test.{kind}")
    directory.forget()


def _charge(payload: dict[str, Any], message: Message) -> None:
    message.effect("charge", {"amount_cents": payload["amount_cents"]})
    with message.transaction():
        Group.objects.create(name=f"{message.session}/{payload['amount_cents']}")
        if _strikes(message.key, "in the commit"):
            _die("in the commit")


def _call(kind: str, call: Call) -> Any:
    key = call.key
    _note("calls", f"{key} begins")
    if _strikes(key, "before the call"):
        _die("before the call")
    for point, is_half in (("half a request", True), ("a request sent", False)):
        if _strikes(key, point):
            _send(kind, call, is_half=is_half)
            _die(point)
    try:
        answer = HttpClient(url=_url(kind), timeout_seconds=TIMEOUT_SECONDS).act(call)
    except (NotDone, OutcomeUnknownError) as error:
        _note("calls", f"{key} {'denied' if isinstance(error, NotDone) else 'unanswered'}")
        raise
    if _strikes(key, "after the call"):
        _die("after the call")
    _note("calls", f"{key} answered")
    return answer


def _ask(call: Call) -> Evidence:
    url = _url("queryable") + "/{key}"
    return HttpClient(url=url, timeout_seconds=TIMEOUT_SECONDS).ask(call)


def _url(kind: str) -> str:
    return f"{os.environ['PROVIDER_URL']}/{kind}/charges"


def _send(kind: str, call: Call, *, is_half: bool) -> None:
    """Send the request, or half of it, and read nothing."""
    parts = urlsplit(_url(kind))
    body = f'{{"amount_cents":{call.request["amount_cents"]}}}'
    head = f"POST {parts.path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {call.key}\r\n"
    text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
        connection.sendall(text[: len(text) // 2] if is_half else text)


def _strikes(key: str, point: str) -> bool:
    """Whether the process shall die here: for a few keys of each point, once for each of them."""
    chance = Random(key).random()
    place = POINTS.index(point) * _SHARE_OF_A_POINT
    if not place <= chance < place + _SHARE_OF_A_POINT:
        return False
    try:
        (Path(os.environ["FOLDER"]) / "killed" / key).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _die(point: str) -> None:
    _note("deaths", point)
    os.kill(os.getpid(), signal.SIGKILL)


def _note(name: str, line: str) -> None:
    with open(Path(os.environ["FOLDER"]) / name, "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(f"{line}\n")


def _work() -> None:
    life = Life("test")
    while True:
        drain(life, 5.0)
        time.sleep(0.02)


def _keep_time() -> None:
    while True:
        reconcile.run()
        time.sleep(0.1)


def _fork(job: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            job()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def main() -> int:
    """Replace whoever was killed; the status is 1 when one ended in another way."""
    declare()
    jobs: dict[int, Callable[[], None]] = {}

    def stop(*_: object) -> None:
        for pid in jobs:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    for job in (*[_work] * WORKERS, _keep_time):
        jobs[_fork(job)] = job
    while True:
        pid, status = os.wait()
        job = jobs.pop(pid)
        if not os.WIFSIGNALED(status):
            for other in jobs:
                os.kill(other, signal.SIGKILL)
            return 1
        jobs[_fork(job)] = job


if __name__ == "__main__":
    sys.exit(main())
