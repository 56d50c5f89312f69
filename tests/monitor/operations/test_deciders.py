"""Two people, a callback and the clock decide at once: one decision for each effect."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from monitor.domain.effect import Effect
from monitor.domain.errors import RefusedError
from monitor.maintenance import reconcile
from monitor.operations import Done, effects
from tests import entrance
from tests.engine import delivery, drain_all, send
from tests.monitor.operations.scenes import version
from tests.outside import Provider, charging, drain_until_quiet
from tests.people import CLARA, DORA
from tests.racing import race
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100
WORDS = {
    "clara": "by clara",
    "dora": "by dora",
    "callback": "by the provider's callback",
    "probe": "by asking the provider",
}


def test_of_four_deciders_at_once_one_decides_each_of_100_rounds() -> None:
    """The provider did act, then did not answer; a handler that hides it cannot make it done."""
    provider = Provider(*[TimeoutError("no answer")] * ROUNDS)
    charge = Effect(
        name="charge", call=provider, kind="neither", reconcile=provider.ask, settle_seconds=0
    )
    winners: Counter[str] = Counter()
    with entrance.configured_effects(charge=entrance.BEARER), charging(charge):
        send(*(delivery(f"k{n}", session=f"s{n}") for n in range(ROUNDS)))
        drain_all()
        run("UPDATE comboio_effect SET probe_at = NULL")
        numbers = [row[0] for row in rows("SELECT effect_id FROM comboio_in_doubt ORDER BY id")]
        assert len(numbers) == ROUNDS
        for number in numbers:
            winners[_round(number)] += 1
        _decide_conflicts()
        drain_until_quiet()
    assert one("SELECT count(*) FROM comboio_done") == ROUNDS
    assert Counter(provider.ledger) == Counter(
        row[0] for row in rows("SELECT key FROM comboio_effect")
    )
    assert len(provider.calls) == ROUNDS  # nobody's wrong verdict made a second call
    assert len(winners) > 1, winners


def _round(number: int) -> str:
    """One effect, four deciders; who won."""
    seen = version("comboio_effect", number)
    key = one("SELECT key FROM comboio_effect WHERE id = %(id)s", id=number)
    run("UPDATE comboio_effect SET probe_at = clock_timestamp() WHERE id = %(id)s", id=number)
    deciders: dict[str, Callable[[], Any]] = {
        "clara": lambda: effects.mark_done(CLARA, number, seen=seen, reference="r", reason="x"),
        "dora": lambda: effects.mark_not_done(DORA, number, seen=seen, reason="x"),
        "callback": lambda: entrance.call_back("charge", {"key": key, "told": "done"}),
        "probe": reconcile.run,
    }
    names = list(deciders)
    random.shuffle(names)
    told = dict(zip(names, race(*(deciders[name] for name in names)), strict=True))
    decisions = rows(
        "SELECT e.detail->>'by' FROM comboio_event e JOIN comboio_effect f USING (message_id)"
        " WHERE f.id = %(id)s AND e.kind = 'settled'",
        id=number,
    )
    assert len(decisions) == 1, (decisions, told)
    winner = str(decisions[0][0])
    for name in ("clara", "dora"):
        _check_person(name, winner, told[name])
    assert told["callback"].status == (409 if winner == "dora" else 200), (winner, told)
    assert isinstance(told["probe"], int), told
    return winner


def _check_person(name: str, winner: str, answer: Any) -> None:
    if name == winner:
        assert isinstance(answer, Done), answer
    else:
        assert isinstance(answer, RefusedError), answer
        assert WORDS[winner] in str(answer), (winner, answer)


def _decide_conflicts() -> None:
    """Where “not done” won, the callback contradicted: the message waits until it is put right."""
    for (number,) in rows("SELECT effect_id FROM comboio_in_doubt"):
        assert one("SELECT conflict FROM comboio_effect WHERE id = %(id)s", id=number)
        seen = version("comboio_effect", number)
        effects.mark_done(CLARA, number, seen=seen, reference="found", reason="the callback")
