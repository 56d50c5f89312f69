"""C38: a handler killed after its effect was noted; nothing stays in progress for ever."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.domain.consumer import Consumer
from monitor.domain.effect import Effect
from monitor.domain.errors import ConfigurationError
from monitor.domain.states import Verdict
from monitor.reports import effects
from monitor.testing import Inbox
from tests.charging import LEASE_SECONDS, charged, charging, never
from tests.rows import one


def _lease_ends_at() -> datetime:
    found: datetime = one("SELECT expires_at FROM comboio_lease")
    return found


@pytest.mark.parametrize("point", ["crash_before_effect", "crash_after_effect"])
@pytest.mark.parametrize("kind", ["keyed", "neither"])
def test_before_the_lease_ends_nothing_is_started_and_a_redelivery_is_a_duplicate(
    inbox: Inbox, kind: str, point: str
) -> None:
    inbox.provider("charge")
    with charging(kind):
        inbox.deliver("test", {}, key="k")
        getattr(inbox, point)("charge")
        inbox.run()
        inbox.advance(seconds=LEASE_SECONDS - 10)
        (again,) = inbox.deliver("test", {}, key="k", redelivered=True)
        assert inbox.run() == 0
    assert (again.verdict, inbox.state("k"), inbox.starts("k")) == (Verdict.DUPLICATE, "running", 1)
    # What is in progress has an end, on which somebody else takes over.
    assert _lease_ends_at() > datetime.now(UTC)


@pytest.mark.parametrize("point", ["crash_before_effect", "crash_after_effect"])
def test_after_it_a_call_that_may_be_repeated_runs_again_with_one_effect(
    inbox: Inbox, point: str
) -> None:
    provider = inbox.provider("charge")
    with charging("keyed"):
        inbox.deliver("test", {}, key="k")
        getattr(inbox, point)("charge")
        inbox.run()
        inbox.advance(seconds=LEASE_SECONDS)
        inbox.run()
    assert (inbox.state("k"), inbox.starts("k")) == ("done", 2)
    assert (len(provider.ledger), charged()) == (1, 1)


@pytest.mark.parametrize("point", ["crash_before_effect", "crash_after_effect"])
def test_after_it_one_that_may_not_waits_for_a_person_where_a_person_looks(
    inbox: Inbox, point: str
) -> None:
    provider = inbox.provider("charge")
    with charging("neither"):
        inbox.deliver("test", {}, key="k")
        getattr(inbox, point)("charge")
        inbox.run()
        calls = len(provider.calls)
        inbox.advance(seconds=LEASE_SECONDS)
        inbox.settle()
        inbox.advance(seconds=30 * 86_400)
        inbox.settle()
    assert (inbox.state("k"), charged()) == ("in_doubt", 0)
    assert len(provider.calls) == calls
    assert [row.id for row in effects.page(show="doubt").rows] == [inbox.effects("k")[0].id]
    assert one("SELECT count(*) FROM comboio_lease") == 0


@pytest.mark.parametrize("seconds", [0, -1, None])
def test_a_lease_without_time_is_refused_at_the_start(seconds: Any) -> None:
    with pytest.raises(ConfigurationError, match="lease_seconds"):
        Consumer(name="c", source="s", handler=never, external=True, lease_seconds=seconds)


@pytest.mark.parametrize("field", ["settle_seconds", "key_window_seconds"])
def test_an_effect_without_time_is_refused_at_the_start(field: str) -> None:
    values: dict[str, Any] = {field: -1}
    with pytest.raises(ConfigurationError, match=field):
        Effect(name="charge", call=never, **values)
