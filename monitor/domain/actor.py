"""Who acts, and what that person may do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from monitor.domain.errors import PermissionRefusedError


class Permission(StrEnum):
    """What an operator may be allowed; the groups viewer, operator, senior, admin add up."""

    VIEW = "view"
    REVEAL_PAYLOAD = "reveal_payload"
    OPERATE = "operate"  # requeue, hold, resume, acknowledge
    DECIDE = "decide"  # discard, restore, verdicts
    ADMINISTER = "administer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A person or a command that uses an operator verb."""

    name: str
    permissions: frozenset[Permission]
    click: UUID | None = None  # names one click: a verb that comes again with it does nothing

    def require(self, permission: Permission) -> None:
        """Raise PermissionRefusedError unless the actor has the permission."""
        if permission not in self.permissions:
            raise PermissionRefusedError(
                f"{self.name} may not do this: the permission “{permission}” is needed. "
                "Ask an administrator for the group that has it."
            )


SYSTEM = Actor(name="system", permissions=frozenset(Permission))
