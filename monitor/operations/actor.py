"""Who acts: a user of the console as the actor that every verb asks for."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, PermissionsMixin

from monitor.domain.actor import Actor, Permission


def actor_of(user: AbstractBaseUser | AnonymousUser) -> Actor:
    """The actor that this user is now; an inactive or anonymous one may do nothing."""
    name = user.get_username() or "anonymous"
    if not isinstance(user, PermissionsMixin):
        return Actor(name=name, permissions=frozenset())
    allowed = frozenset(each for each in Permission if user.has_perm(f"monitor.{each}"))
    return Actor(name=name, permissions=allowed)
