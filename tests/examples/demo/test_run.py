from __future__ import annotations

from collections import Counter

from examples.demo import plan, run
from examples.demo.plan import Plan
from examples.demo.send import Tally
from tests.examples.demo import plans

PLANNED = plans.small(charges=60)
FAULTLESS = plan.intended(PLANNED) | dict.fromkeys(run.FAULTS, 0)


def _report(
    figures: dict[str, int], *, tally: Tally | None = None, planned: Plan = PLANNED
) -> run.Report:
    return run.report(planned, figures, tally=tally or Tally(), seconds=1.0)


def test_a_faultless_run_holds() -> None:
    report = _report(FAULTLESS)
    assert report.holds
    assert "0 lost, 0 doubled, 0 out of order" in report.sentence()


def test_each_fault_alone_makes_the_run_fail() -> None:
    for name in FAULTLESS:
        report = _report(FAULTLESS | {name: FAULTLESS[name] + 1})
        assert not report.holds, name
        assert name in report.sentence()


def test_an_unexpected_answer_makes_the_run_fail() -> None:
    tally = Tally(outcomes=Counter(new=1), surprises=["payments 1: new was planned, 500 came"])
    assert "500 came" in _report(FAULTLESS, tally=tally).sentence()


def test_what_was_sent_again_may_be_a_duplicate_more_but_never_a_message_more() -> None:
    again = Tally(resent=1)
    more = FAULTLESS["duplicates"] + 2
    assert _report(FAULTLESS | {"duplicates": more}, tally=again).holds
    accepted = FAULTLESS["accepted"] + 1
    assert not _report(FAULTLESS | {"accepted": accepted}, tally=again).holds


def test_the_report_names_all_its_figures() -> None:
    assert set(_report(FAULTLESS).as_dict()) >= {
        "deliveries",
        "accepted",
        "duplicates",
        "mismatches",
        "refused",
        "done",
        "dead",
        "parked",
        "discarded",
        "alerts",
        "sessions",
        "in_doubt",
        "effects",
        "effects_external",
        "external_doubles",
        "lost",
        "doubles",
        "order_violations",
        "seconds",
    }
