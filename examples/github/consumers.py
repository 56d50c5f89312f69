"""Three consumers of GitHub's webhooks: timelines of items, of repositories, and triage."""

from __future__ import annotations

from dataclasses import dataclass, field

from examples.github.models import TimelineEntry, TriageStep
from monitor import Message, Retry, consumer

SHORT_WAITS = Retry(limit=5, base_seconds=0.05, cap_seconds=1)

ITEM_EVENTS = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "discussion",
    "discussion_comment",
)
# "octocat/hello-world#7": a repository numbers issues, pull requests and discussions together.
ITEM_SESSION = (
    "join('#', [repository.full_name,"
    " to_string(issue.number || pull_request.number || discussion.number)])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The part of a webhook's repository that we keep."""

    full_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user or an organisation."""

    login: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An issue, a pull request or a discussion."""

    number: int
    title: str
    state: str = ""
    labels: list[dict[str, object]] = field(default_factory=list)
    assignees: list[dict[str, object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEvent:
    """A webhook about one item."""

    action: str
    repository: Repository
    sender: Account
    issue: Item | None = None
    pull_request: Item | None = None
    discussion: Item | None = None

    @property
    def item(self) -> Item:
        """The item it is about."""
        item = self.issue or self.pull_request or self.discussion
        if item is None:
            raise ValueError("The webhook names no issue, pull request or discussion.")
        return item

    @property
    def item_name(self) -> str:
        """How people write the item: octocat/hello-world#7."""
        return f"{self.repository.full_name}#{self.item.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Any webhook: who did something, and where."""

    action: str = ""
    repository: Repository | None = None
    organization: Account | None = None
    sender: Account | None = None

    @property
    def place(self) -> str:
        """The repository it happened in, else the organisation, else GitHub as a whole."""
        if self.repository is not None:
            return self.repository.full_name
        return self.organization.login if self.organization is not None else "github"


@consumer(
    "github.timeline",
    source="github",
    types=ITEM_EVENTS,
    session=ITEM_SESSION,
    retry=SHORT_WAITS,
)
def keep_timeline(event: ItemEvent, message: Message) -> None:
    """Add the event to the timeline of its issue, pull request or discussion."""
    TimelineEntry.objects.create(
        timeline=event.item_name,
        event=message.type,
        action=event.action,
        actor=event.sender.login,
        title=event.item.title[:256],
        consumer=message.consumer,
        message_key=message.key,
        message_id=message.id,
    )


@consumer(
    "github.triage",
    source="github",
    types=("issues", "pull_request"),
    session=ITEM_SESSION,
    retry=SHORT_WAITS,
)
def triage(event: ItemEvent, message: Message) -> dict[str, str]:
    """Write down what the item needs next."""
    needs = next_need(event.item)
    TriageStep.objects.create(
        item=event.item_name, needs=needs, message_key=message.key, message_id=message.id
    )
    return {"needs": needs}


@consumer(
    "github.activity",
    source="github",
    session="repository.full_name || organization.login",
    retry=SHORT_WAITS,
)
def keep_activity(event: Activity, message: Message) -> None:
    """Add every event to the timeline of the place it happened in."""
    TimelineEntry.objects.create(
        timeline=event.place,
        event=message.type,
        action=event.action,
        actor=event.sender.login if event.sender else "",
        consumer=message.consumer,
        message_key=message.key,
        message_id=message.id,
    )


def next_need(item: Item) -> str:
    """What an item needs next: nothing once it is closed, else a label, an owner, or an answer."""
    if item.state == "closed":
        return "nothing"
    if not item.labels:
        return "a label"
    if not item.assignees:
        return "an owner"
    return "an answer"
