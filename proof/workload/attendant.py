"""The person at the console after the storm: python -m proof.workload.attendant LEDGER.

Requeues innocents, settles what is in doubt after a look into the provider's books, and folds the
counters; prints what was done as JSON. One round: call it again until nothing is left to do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import django

from examples.provider import ledger


def main(words: list[str]) -> int:
    """One round of an operator's work."""
    django.setup()
    from django.db import connection  # noqa: PLC0415 - after the set-up above

    from monitor.maintenance.chores import CHORES, run_once  # noqa: PLC0415

    acts = {act.key: act for act in ledger.read(Path(words[0]))}
    done = {"innocents": 0, "settled": 0}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT x.id, x.version FROM comboio_dead x JOIN comboio_message m ON m.id = x.id "
            "WHERE m.type <> 'poison' OR x.reason <> 'poison' ORDER BY x.id"
        )
        dead = cursor.fetchall()
        cursor.execute(
            "SELECT e.id, e.version, e.key, e.message_id FROM comboio_effect e "
            "JOIN comboio_in_doubt u ON u.effect_id = e.id "
            "WHERE e.state = 'in doubt' AND (e.kind <> 'queryable' OR e.conflict <> '')"
            "ORDER BY e.id"
        )
        doubts = cursor.fetchall()
    for message_id, version in dead:
        done["innocents"] += _requeue(message_id, version)
    for effect_id, version, key, message_id in doubts:
        done["settled"] += _settle(effect_id, version, key, message_id, acts.get(key))
    fold = next(chore for chore in CHORES if chore.name == "fold counters")
    while run_once(fold):
        pass
    print(json.dumps(done))  # noqa: T201
    return 0


def _requeue(message_id: int, version: int) -> int:
    from monitor.domain.actor import SYSTEM  # noqa: PLC0415
    from monitor.operations import messages  # noqa: PLC0415

    return _act(
        lambda: messages.requeue(SYSTEM, message_id, seen=version).count,
        verb="requeue",
        object=message_id,
        id=message_id,
    )


def _settle(effect_id: int, version: int, key: str, message_id: int, act: ledger.Act | None) -> int:
    from monitor.domain.actor import SYSTEM  # noqa: PLC0415
    from monitor.operations import effects  # noqa: PLC0415

    why = "The provider's own books say so."

    def decide() -> int:
        if act is None:
            return effects.mark_not_done(SYSTEM, effect_id, seen=version, reason=why).count
        reference = f"ch_{act.number}"
        return effects.mark_done(
            SYSTEM, effect_id, seen=version, reference=reference, reason=why
        ).count

    verb = "mark not done" if act is None else "mark done"
    return _act(decide, verb=verb, object=effect_id, effect=key, id=message_id)


def _act(act: Callable[[], int], **what: object) -> int:
    from monitor.domain.errors import RefusedError  # noqa: PLC0415
    from proof import history  # noqa: PLC0415

    try:
        count = act()
    except RefusedError as error:
        print(error, file=sys.stderr)  # noqa: T201 - somebody was faster: it shows next round
        return 0
    history.write("act", **what)
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
