"""Looking at what is redacted is an act, too: who saw the whole of what stands in the audit."""

from __future__ import annotations

from monitor.domain.actor import Actor, Permission
from monitor.operations.sentences import cleaned
from monitor.operations.transaction import act, record


def note_reveal(actor: Actor, what: tuple[str, int], *, how: str, reason: str = "") -> None:
    """Write down that a person looks at the whole of an object (kind, id), before it is shown.

    how: shown, edited or downloaded. Raises PermissionRefusedError without “reveal_payload”. Wants
    no open transaction.
    """
    reason = cleaned(reason)
    with act(actor, Permission.REVEAL_PAYLOAD) as cursor:
        record(cursor, actor, "reveal", what, reason=reason, detail={"how": how})
