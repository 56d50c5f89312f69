"""The people of the tests, by what they may do."""

from __future__ import annotations

from monitor.domain.actor import Actor, Permission


def person(name: str, *permissions: Permission) -> Actor:
    """An actor who may look, and do what is named."""
    return Actor(name=name, permissions=frozenset({Permission.VIEW, *permissions}))


VIEWER = person("victor")
ANNA = person("anna", Permission.OPERATE)
BERT = person("bert", Permission.OPERATE)
CLARA = person("clara", Permission.OPERATE, Permission.DECIDE)
DORA = person("dora", Permission.OPERATE, Permission.DECIDE)
