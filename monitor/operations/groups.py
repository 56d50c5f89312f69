"""The groups of users that the console knows: viewer, operator, senior, admin."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.management import create_permissions
from django.db import DEFAULT_DB_ALIAS, connections

from monitor.domain.actor import Permission

# Each has what the one before it has, and more.
GROUPS: dict[str, frozenset[Permission]] = {
    "viewer": frozenset({Permission.VIEW}),
    "operator": frozenset({Permission.VIEW, Permission.REVEAL_PAYLOAD, Permission.OPERATE}),
    "senior": frozenset(Permission) - {Permission.ADMINISTER},
    "admin": frozenset(Permission),
}


def create_groups(
    sender: AppConfig, *, using: str = DEFAULT_DB_ALIAS, verbosity: int = 0, **_: Any
) -> None:
    """Make the groups that do not exist yet; the receiver of post_migrate for the app “monitor”.

    A group that exists is left as it is: a host project's own “admin” gains nothing by ours, and
    what an administrator took from a group stays taken.
    """
    if using != DEFAULT_DB_ALIAS or not apps.is_installed("django.contrib.auth"):
        return
    if not _has_tables(using):
        return  # Only a part of the apps is migrated yet; the next migrate comes by here again.
    # Django makes permissions after each migrate too, but maybe later than this runs.
    create_permissions(sender, verbosity=verbosity, using=using)
    group_model = apps.get_model("auth", "Group")
    permission_model = apps.get_model("auth", "Permission")
    for name, allowed in GROUPS.items():
        group, is_new = group_model.objects.using(using).get_or_create(name=name)
        if is_new:
            found = permission_model.objects.using(using).filter(
                content_type__app_label="monitor", codename__in=[each.value for each in allowed]
            )
            group.permissions.set(found)


def _has_tables(using: str) -> bool:
    names = connections[using].introspection.table_names()
    models = (("auth", "Group"), ("auth", "Permission"), ("contenttypes", "ContentType"))
    return all(apps.get_model(*each)._meta.db_table in names for each in models)
