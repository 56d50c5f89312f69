"""A faultless run passes every checker; each thing that is broken is found by the one it is for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from proof.checkers import liveness
from proof.checkers.all import CHECKERS, check
from tests.proof.faultless import WORKER, Run, effect_key, of_kind


def lose_a_message(run: Run) -> None:
    run.facts["messages"].remove(run.row("messages", next(of_kind("transfer")).key))


def leave_it_in_no_state(run: Run) -> None:
    run.row("messages", next(of_kind("transfer")).key)[5:7] = [0, None]


def leave_it_in_two_states(run: Run) -> None:
    run.row("messages", next(of_kind("transfer")).key)[5] = 2


def store_it_twice(run: Run) -> None:
    run.facts["messages"].append([99_999, *run.row("messages", next(of_kind("append")).key)[1:]])


def tell_another_id(run: Run) -> None:
    run.lines[0]["ids"] = [4711] * len(run.lines[0]["ids"])


def leave_a_lease(run: Run) -> None:
    run.facts["left_over"] = [[1, 0, 0, 0]]


def book_twice(run: Run) -> None:
    key = next(of_kind("transfer")).key
    run.facts["ledger"] += [row for row in run.facts["ledger"] if row[1] == key]


def book_nothing(run: Run) -> None:
    key = next(of_kind("transfer")).key
    run.facts["ledger"] = [row for row in run.facts["ledger"] if row[1] != key]


def book_something_else(run: Run) -> None:
    run.row("ledger", next(of_kind("transfer")).key)[4] += 1


def keep_what_poison_wrote(run: Run) -> None:
    item = next(of_kind("poison"))
    where = [item.consumer, "own", item.n, 1, None]
    run.facts["appended"].append([0, *where, item.key, item.n + 1, WORKER])


def charge_twice(run: Run) -> None:
    row = run.row("charges", next(of_kind("long")).key)
    run.facts["charges"].append(list(row))


def swap_two_of_a_session(run: Run) -> None:
    rows = run.facts["appended"]
    sessions = [row[1:3] for row in rows]
    session = next(each for each in sessions if sessions.count(each) > 1)
    one, other = islice((at for at, each in enumerate(sessions) if each == session), 2)
    rows[one][6:8], rows[other][6:8] = rows[other][6:8], rows[one][6:8]


def read_no_prefix(run: Run) -> None:
    next(row for row in run.facts["appended"] if row[4] > 1)[5] = -1


def commit_under_an_old_fence(run: Run) -> None:
    item = next(of_kind("long"))
    run.say("start", key=item.key, id=item.n + 1, attempt=1, fence=10_000)


def let_fences_go_back(run: Run) -> None:
    first, second = run.facts["charges"][:2]
    for row in (first, second):
        row[3:5] = ["proof.keyed", "one session"]
    first[5], second[5] = second[5], first[5]


def act_twice_outside(run: Run) -> None:
    run.acts.append(run.acts[0])


def act_without_a_record(run: Run) -> None:
    run.acts.append({**run.acts[0], "key": "unheard"})


def complete_without_an_act(run: Run) -> None:
    del run.acts[0]


def leave_an_effect_in_doubt(run: Run) -> None:
    run.facts["effects"][0][5] = "in doubt"


def call_again_in_silence(run: Run) -> None:
    item = next(of_kind("queryable"))
    key = effect_key(item)
    run.lines = [line for line in run.lines if (line["event"], line.get("effect")) != _answer(key)]
    run.say("call", effect=key, kind=item.kind, id=item.n + 1, request="r")


def call_with_another_request(run: Run) -> None:
    item = next(of_kind("keyed"))
    run.say("call", effect=effect_key(item), kind=item.kind, id=item.n + 1, request="other")


def doubt_an_answered_call(run: Run) -> None:
    item = next(of_kind("neither"))
    for number in (1, 2):
        key, verb = effect_key(item), "mark done"
        run.say("act", verb=verb, object=item.n + 1, effect=key, id=item.n + 1, number=number)
        run.facts["audit"].append([number, "system", verb, "effect", item.n + 1])


def charge_an_attempt_too_many(run: Run) -> None:
    run.row("messages", next(of_kind("flaky")).key)[7] += 1


def give_poison_up_too_early(run: Run) -> None:
    run.row("messages", next(of_kind("poison")).key)[7] = 2


def blame_it_for_deaths_that_were_none(run: Run) -> None:
    number = next(of_kind("transfer")).n + 1
    for victim in (11, 12):
        run.say("nemesis", fault="worker_kills", victim=victim, held=[number], leased=[])
    run.say("act", verb="requeue", object=number, id=number)
    run.facts["audit"].append([1, "system", "requeue", "message", number])


def count_too_few_duplicates(run: Run) -> None:
    next(row for row in run.facts["messages"] if row[9])[9] = 0
    run.count()


def forget_a_mismatch(run: Run) -> None:
    run.facts["mismatches"].pop()


def act_without_audit(run: Run) -> None:
    run.say("act", verb="requeue", object=1, id=1)


def audit_twice(run: Run) -> None:
    run.say("act", verb="hold", object=1, id=1)
    run.facts["audit"] += [[1, "system", "hold", "session", 1], [2, "system", "hold", "session", 1]]


def count_one_too_many(run: Run) -> None:
    run.facts["totals"][0][3] += 1


def drain_late(run: Run) -> None:
    run.run["drain_seconds"] = 31.0


def take_over_late(run: Run) -> None:
    start = next(line for line in run.lines if line["event"] == "start")
    run.say("nemesis", fault="worker_kills", victim=WORKER, held=[start["id"]], leased=[])
    run.say("start", key=start["key"], id=start["id"], attempt=1)
    run.lines[-1]["mono_ns"] += 11 * 10**9


def complain(run: Run) -> None:
    run.logs["worker"] += 'Traceback (most recent call last):\n  File "x"\nKeyError: 1\n'


OTHER = WORKER + 1  # another worker

BROKEN: list[tuple[str, str, Callable[[Run], None]]] = [
    ("conservation", "lost", lose_a_message),
    ("conservation", "lost", leave_it_in_no_state),
    ("conservation", "other", leave_it_in_two_states),
    ("conservation", "doubles", store_it_twice),
    ("conservation", "lost", tell_another_id),
    ("conservation", "other", leave_a_lease),
    ("ledger", "doubles", book_twice),
    ("ledger", "lost", book_nothing),
    ("ledger", "other", book_something_else),
    ("ledger", "doubles", keep_what_poison_wrote),
    ("ledger", "doubles", charge_twice),
    ("session_order", "order_violations", swap_two_of_a_session),
    ("session_order", "order_violations", read_no_prefix),
    ("fences", "stale_commits", commit_under_an_old_fence),
    ("fences", "stale_commits", let_fences_go_back),
    ("external", "external_doubles", act_twice_outside),
    ("external", "external_doubles", act_without_a_record),
    ("external", "lost", complete_without_an_act),
    ("external", "in_doubt_unresolved", leave_an_effect_in_doubt),
    ("external", "external_doubles", call_again_in_silence),
    ("external", "external_doubles", call_with_another_request),
    ("external", "other", doubt_an_answered_call),
    ("attempts", "other", charge_an_attempt_too_many),
    ("attempts", "other", give_poison_up_too_early),
    ("attempts", "other", blame_it_for_deaths_that_were_none),
    ("duplicates", "other", count_too_few_duplicates),
    ("duplicates", "other", forget_a_mismatch),
    ("operator", "other", act_without_audit),
    ("operator", "other", audit_twice),
    ("figures", "other", count_one_too_many),
    ("liveness", "late", drain_late),
    ("liveness", "late", take_over_late),
    ("logs", "other", complain),
]


def test_a_faultless_run_passes_every_checker(tmp_path: Path) -> None:
    assert check(Run().write(tmp_path)) == {name: [] for name in CHECKERS}


@pytest.mark.parametrize(("checker", "kind", "break_it"), BROKEN)
def test_what_is_broken_is_found(
    checker: str, kind: str, break_it: Callable[[Run], None], tmp_path: Path
) -> None:
    run = Run()
    break_it(run)
    assert kind in {each.kind for each in CHECKERS[checker](run.write(tmp_path))}


def test_a_takeover_is_measured_from_the_death_of_the_last_holder(tmp_path: Path) -> None:
    run = Run()
    take_over_late(run)
    late = run.lines.pop()
    run.say("nemesis", fault="worker_kills", victim=OTHER, held=[late["id"]], leased=[])
    run.lines[-1]["mono_ns"] = late["mono_ns"] - 10**8
    run.lines.append(late)
    assert list(CHECKERS["liveness"](run.write(tmp_path))) == []


def test_the_first_commit_is_measured_from_the_last_return_of_the_database(tmp_path: Path) -> None:
    run = Run()
    for seconds, event, more in (
        (0.0, "nemesis", {"fault": "postgres_kills"}),
        (0.5, "healed", {"fault": "postgres_kills"}),
        (9.0, "nemesis", {"fault": "postgres_kills"}),
        (9.5, "healed", {"fault": "postgres_kills"}),
        (9.75, "committed", {"id": 1}),
    ):
        run.say(event, **more)
        run.lines[-1]["mono_ns"] = 10**12 + int(seconds * 10**9)
    measured = liveness.measure(run.write(tmp_path))
    assert measured["first_commit_after_restart_seconds"] == 0.25


def test_every_checker_is_shown_to_find_something() -> None:
    assert {checker for checker, _, _ in BROKEN} == set(CHECKERS)


def _answer(key: str) -> tuple[str, str]:
    return "answered", key
