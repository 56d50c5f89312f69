from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from proof.profiles import PROFILES, SHARES
from proof.workload.batches import Batch, batches
from proof.workload.plan import QUEUE, Copy, Plan

PLAN = Plan(seed=3, profile=replace(PROFILES["ci"], messages=8000))


@pytest.fixture(scope="module")
def sent() -> dict[int, list[Batch]]:
    return {sender: list(batches(PLAN, sender)) for sender in range(PLAN.profile.senders)}


def test_the_seed_alone_decides_what_is_sent() -> None:
    again = Plan(seed=3, profile=PLAN.profile)
    other = Plan(seed=4, profile=PLAN.profile)
    assert [PLAN.item(n) for n in range(300)] == [again.item(n) for n in range(300)]
    assert [PLAN.item(n).kind for n in range(300)] != [other.item(n).kind for n in range(300)]


def test_the_kinds_have_their_shares() -> None:
    posted = [item for item in PLAN.items() if item.source != QUEUE]
    kinds = Counter(item.kind for item in posted)
    for kind, share in SHARES.items():
        assert kinds[kind] / len(posted) == pytest.approx(share, abs=0.012), kind
    assert kinds["long"] in (PLAN.profile.long_runs, PLAN.profile.long_runs + 1)


def test_every_message_is_sent_once_and_a_quarter_again(sent: dict[int, list[Batch]]) -> None:
    first: Counter[int] = Counter()
    again: Counter[int] = Counter()
    for several in sent.values():
        for batch in several:
            for each in (*batch.deliveries, *batch.twins):
                if not each.is_changed:
                    (again if first[each.item.n] else first)[each.item.n] += 1
    assert set(first) == set(range(8000))
    assert set(first.values()) == {1}
    assert len(again) / 8000 == pytest.approx(0.25, abs=0.02)
    assert set(again.values()) == {1}


def test_a_session_has_one_sender_that_keeps_its_order(sent: dict[int, list[Batch]]) -> None:
    seen: dict[str, list[int]] = defaultdict(list)
    senders: dict[str, set[int]] = defaultdict(set)
    for sender, several in sent.items():
        known: set[int] = set()
        for batch in several:
            for each in batch.deliveries:
                if each.item.session and each.item.n not in known:
                    seen[each.item.session].append(each.item.n)
                    senders[each.item.session].add(sender)
                known.add(each.item.n)
    assert all(numbers == sorted(numbers) for numbers in seen.values())
    assert {len(each) for each in senders.values()} == {1}


def test_messages_of_other_sessions_change_places(sent: dict[int, list[Batch]]) -> None:
    numbers = [each.item.n for each in sent[1][0].deliveries]
    assert numbers != sorted(numbers)


def test_a_twin_is_alone_of_its_session_in_its_batch(sent: dict[int, list[Batch]]) -> None:
    twins = 0
    for several in sent.values():
        for batch in several:
            for twin in batch.twins:
                session = twin.item.session
                first = {each.item.n for each in batch.deliveries if each.item.session == session}
                assert not session or twin.item.n in first
                assert not session or all(n <= twin.item.n for n in first)
                twins += 1
    assert twins > 8000 * 0.25 / 4


def test_a_changed_payload_comes_after_the_first_one(sent: dict[int, list[Batch]]) -> None:
    for several in sent.values():
        known: set[int] = set()
        for batch in several:
            for each in batch.deliveries:
                assert not each.is_changed or each.item.n in known
                known.add(each.item.n)
    changed = [item for item in PLAN.items() if Copy.CHANGED in item.copies]
    assert changed
    assert all(item.changed != item.body for item in changed)
