"""Steal a lease: its holder can neither renew nor commit, and the next one may start at once."""

from __future__ import annotations

import pytest

from monitor.domain.errors import RefusedError
from monitor.operations import sessions
from monitor.store import connections, leases
from monitor.store.leases import Lease
from tests import factories, factory_effects
from tests.engine import consuming, delivery, drain_all, send
from tests.people import CLARA, DORA
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)


def _leased(session: str = "s") -> tuple[int, Lease]:
    """A message whose session a worker holds; its id and the lease."""
    message = factories.message(factories.consumer(), session=session)
    fence = factory_effects.lease(message)
    ((session_id, lane),) = rows("SELECT session, lane FROM comboio_lease")
    return message, Lease(session=session_id, lane=lane, message_id=message, fence=fence, starts=1)


def test_the_holder_can_neither_renew_nor_end_and_another_takes_over_at_once() -> None:
    message, lease = _leased()
    done = sessions.steal(CLARA, lease.session, seen=lease.fence, reason="the host is lost")
    assert f"message {message} starts again" in done.text
    with connections.connect() as other, other.cursor() as cursor:
        assert leases.renew(cursor, [(lease.fence, 10.0)]) == []
        assert not leases.holds(cursor, lease)
        assert not leases.end(cursor, lease)
        owner = one("SELECT consumer FROM comboio_message")
        taken = leases.take(
            cursor, lease.session, lease.lane, consumer=owner, message=message, holder=(7, 10.0)
        )
    assert taken is not None
    assert (taken.starts, taken.fence > lease.fence) == (2, True)


def test_a_handler_whose_lease_is_stolen_commits_nothing_and_the_next_start_does() -> None:
    starts: list[int] = []

    def handle(_payload: object, message: object) -> None:
        starts.append(message.id)  # type: ignore[attr-defined]
        with message.transaction():  # type: ignore[attr-defined]
            run("INSERT INTO auth_group (name) VALUES (%(n)s)", n=f"start {len(starts)}")
            if len(starts) == 1:
                _steal_from_outside()

    def _steal_from_outside() -> None:
        with connections.connect(autocommit=True) as other:
            other.execute(
                "UPDATE comboio_lease SET fence = nextval('comboio_fence'), slot = 0,"
                " expires_at = clock_timestamp()"
            )

    with consuming(handle, external=True):
        send(delivery("a", session="s"))
        drain_all()
    assert len(starts) == 2
    assert rows("SELECT name FROM auth_group WHERE name LIKE 'start%%'") == [("start 2",)]


def test_a_lease_that_ran_out_or_ended_is_refused_in_words() -> None:
    _, lease = _leased()
    run("UPDATE comboio_lease SET expires_at = clock_timestamp()")
    with pytest.raises(RefusedError, match="has run out: any worker may take it"):
        sessions.steal(CLARA, lease.session, seen=lease.fence, reason="x")
    run("DELETE FROM comboio_lease")
    with pytest.raises(RefusedError, match="there is no lease; reload"):
        sessions.steal(CLARA, lease.session, seen=lease.fence, reason="x")


def test_a_lease_that_another_worker_took_meanwhile_is_not_stolen() -> None:
    _, lease = _leased()
    run("UPDATE comboio_lease SET fence = nextval('comboio_fence')")
    with pytest.raises(RefusedError, match="changed since this page was made"):
        sessions.steal(CLARA, lease.session, seen=lease.fence, reason="x")


def test_without_a_reason_nothing_is_stolen() -> None:
    _, lease = _leased()
    with pytest.raises(RefusedError, match="Say why"):
        sessions.steal(CLARA, lease.session, seen=lease.fence, reason=" ")
    assert one("SELECT fence FROM comboio_lease") == lease.fence


def test_a_message_without_session_is_named_by_itself() -> None:
    message, lease = _leased(session="")
    done = sessions.steal(DORA, lease.session, seen=lease.fence, reason="x")
    assert f"Message {message} of" in done.text or f"message {message} of" in done.text


def test_who_holds_a_session_is_told_what_still_runs_in_it() -> None:
    message, lease = _leased()
    done = sessions.hold(CLARA, lease.session, reason="")
    assert f"only message {message}, which runs now" in done.text
