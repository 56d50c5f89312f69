"""A seeded set of GitHub webhooks: the npm package's real payloads, with copies and changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid5

from examples.demo.plan import Flaw, Planned, Role, Route, Shape, copy_of

EXAMPLES = Path("@octokit", "webhooks-examples", "api.github.com", "index.json")
LANE = "github"  # one lane: one repository has most of the events, and its order is promised
_NAMESPACE = UUID("6b1f8a52-6a0b-4c0e-9d5e-0f5a4b0c7d11")
_COPY_SHARE = 0.25
_ITEMS = ("issue", "pull_request", "discussion")
_ITEM_EVENTS = frozenset(
    {"issues", "issue_comment", "discussion", "discussion_comment", "pull_request"}
    | {f"pull_request_review{part}" for part in ("", "_comment", "_thread")}
)
_TRIAGED = frozenset({"issues", "pull_request"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """One real payload with the event it belongs to."""

    event: str
    number: int  # among the payloads of its event; a few of them are equal
    payload: dict[str, Any]


def webhooks(node_modules: Path) -> list[Webhook]:
    """The package's payloads for github.com, in its order. OSError when it is not installed."""
    index = json.loads((node_modules / EXAMPLES).read_text(encoding="utf-8"))
    return [
        Webhook(event=kind["name"], number=number, payload=payload)
        for kind in index
        for number, payload in enumerate(kind["examples"])
    ]


def deliveries(
    random: Random, hooks: list[Webhook], *, run: str, changes: int = 6, refusals: int = 5
) -> list[Planned]:
    """All deliveries of a run in their order: each payload once, a quarter more of copies."""
    firsts = [first(hook, run=run, position=n) for n, hook in enumerate(hooks, start=1)]
    chosen = random.sample(firsts, round(len(firsts) * _COPY_SHARE))
    shape_of = {each.key: list(Shape)[n % len(Shape)] for n, each in enumerate(chosen)}
    to_change = {each.key for each in random.sample(firsts, min(changes, len(firsts)))}
    result: list[Planned] = []
    late: list[Planned] = []
    behind: list[Planned] = []  # comes one delivery later
    for each in firsts:
        shape = shape_of.get(each.key)
        again = [] if shape is None else [copy_of(each, shape)]
        result += [each, *(again if shape is Shape.TOGETHER else []), *behind]
        behind = again if shape is Shape.SOON else []
        late += again if shape is Shape.LATE else []
        if each.key in to_change:
            behind.append(changed(each))
    forged_ones = [forged(each) for each in random.sample(firsts, min(refusals, len(firsts)))]
    return [*result, *behind, *forged_ones, *late]


def first(hook: Webhook, *, run: str, position: int) -> Planned:
    """A webhook's delivery. Its id is made from run, event and body, for the package has none."""
    body = json.dumps(hook.payload, separators=(",", ":"), ensure_ascii=False)
    key = str(uuid5(_NAMESPACE, f"{run} {hook.event} {hook.number} {body}"))
    return Planned(
        source="github",
        key=key,
        type=hook.event,
        body=body,
        role=Role.FIRST,
        lane=LANE,
        routes=tuple(_routes(hook, position)),
    )


def changed(first: Planned) -> Planned:
    """The same delivery id with another body."""
    body = {**json.loads(first.body), "action": "changed on the way"}
    return replace(first, role=Role.CHANGED, body=json.dumps(body, separators=(",", ":")))


def forged(first: Planned) -> Planned:
    """A delivery with an id of its own, signed with a wrong secret."""
    key = str(uuid5(_NAMESPACE, f"forged {first.key}"))
    return replace(first, key=key, role=Role.REFUSED, routes=(), flaw=Flaw.SIGNATURE)


def _routes(hook: Webhook, position: int) -> Iterator[Route]:
    payload = hook.payload
    action = f"{hook.event} {payload.get('action', '')}".strip()
    place = payload.get("repository", {}).get("full_name", "")
    owner = payload.get("organization", {}).get("login", "")
    session = place or owner
    yield Route(
        consumer="github.activity",
        session=session,
        position=position,
        effect=f"{session or 'github'}: {action}",
    )
    if hook.event not in _ITEM_EVENTS:
        return
    number = next(payload[item]["number"] for item in _ITEMS if item in payload)
    item = f"{place}#{number}"
    yield Route(
        consumer="github.timeline", session=item, position=position, effect=f"{item}: {action}"
    )
    if hook.event in _TRIAGED:
        yield Route(consumer="github.triage", session=item, position=position, effect=item)
