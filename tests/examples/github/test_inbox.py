"""GitHub's events through the real inbox."""

from __future__ import annotations

from examples.github.models import TimelineEntry, TriageStep
from monitor.testing import Inbox
from tests.examples.demo.plans import ISSUE


def _headers(delivery: str) -> dict[str, str]:
    return {"X-GitHub-Event": "issues", "X-GitHub-Delivery": delivery}


def test_an_event_that_comes_again_gets_one_line_and_one_step(inbox: Inbox) -> None:
    inbox.deliver("github", ISSUE.payload, headers=_headers("d1"), times=2)
    inbox.crash_before_commit("d1")
    inbox.settle()
    inbox.deliver("github", ISSUE.payload, headers=_headers("d1"))
    inbox.run()
    assert {each.state for each in inbox.messages()} == {"done"}
    own = TimelineEntry.objects.filter(consumer="github.timeline")
    assert [entry.message_key for entry in own] == ["d1"]
    assert TriageStep.objects.count() == 1
