from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import jmespath
import pytest
from django.conf import settings

from examples.demo import github_set
from examples.github import consumers
from examples.github.models import TimelineEntry, TriageStep
from monitor import Message
from monitor.domain.payload import read
from monitor.engine import registry
from tests import needs
from tests.examples.demo.plans import ISSUE, PUSH, TEAM

MESSAGE = Message(
    id=1,
    consumer="github.timeline",
    source="github",
    origin="github",
    key="d1",
    type="issues",
    session="octocat/hello#7",
    sequence=None,
    attempt=1,
    content_type="application/json",
    payload=b"{}",
    headers={},
    received_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.mark.django_db
def test_an_issue_gets_a_line_on_its_timeline_and_its_next_step() -> None:
    event = read(consumers.ItemEvent, ISSUE.payload)
    consumers.keep_timeline(event, MESSAGE)
    assert consumers.triage(event, MESSAGE) == {"needs": "a label"}
    entry = TimelineEntry.objects.get()
    assert (entry.timeline, entry.event, entry.action) == ("octocat/hello#7", "issues", "opened")
    assert (entry.actor, entry.title, entry.message_key) == ("mona", "It breaks", "d1")
    assert TriageStep.objects.get().needs == "a label"


@pytest.mark.django_db
def test_any_event_gets_a_line_on_the_timeline_of_its_place() -> None:
    message = replace(MESSAGE, consumer="github.activity")
    for payload in (PUSH.payload, TEAM.payload, {"action": "published"}):
        consumers.keep_activity(read(consumers.Activity, payload), message)
    places = TimelineEntry.objects.order_by("id").values_list("timeline", flat=True)
    assert list(places) == ["octocat/hello", "octocats", "github"]


@pytest.mark.parametrize(
    ("item", "needs_next"),
    [
        (consumers.Item(number=1, title="", state="closed"), "nothing"),
        (consumers.Item(number=1, title="", state="open"), "a label"),
        (consumers.Item(number=1, title="", labels=[{}]), "an owner"),
        (consumers.Item(number=1, title="", labels=[{}], assignees=[{}]), "an answer"),
    ],
)
def test_what_an_item_needs_next(item: consumers.Item, needs_next: str) -> None:
    assert consumers.next_need(item) == needs_next


def test_every_real_payload_fits_its_consumers_and_names_the_planned_session() -> None:
    try:
        hooks = github_set.webhooks(settings.BASE_DIR / "node_modules")
    except FileNotFoundError:
        needs.missing("the npm package @octokit/webhooks-examples is not installed")
    for hook in hooks:
        planned = github_set.first(hook, run="t", position=1)
        sessions = {route.consumer: route.session for route in planned.routes}
        for taker in registry.takers("github", hook.event):
            assert taker.payload is not None
            assert taker.session is not None
            read(taker.payload, hook.payload)
            found = jmespath.search(taker.session, hook.payload)
            assert (found or "") == sessions[taker.name]
