"""Users of the console as actors, and the groups they are given."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser, Group, Permission, User

from monitor.domain import actor
from monitor.operations.actor import actor_of
from monitor.operations.groups import GROUPS, create_groups

pytestmark = pytest.mark.django_db


def _make_groups() -> None:
    create_groups(apps.get_app_config("monitor"))


def _permissions(group: str) -> set[str]:
    return set(Group.objects.get(name=group).permissions.values_list("codename", flat=True))


def test_each_group_has_what_the_one_before_it_has_and_more() -> None:
    Group.objects.all().delete()
    _make_groups()
    ladder = [_permissions(name) for name in ("viewer", "operator", "senior", "admin")]
    assert all(lower < higher for lower, higher in pairwise(ladder))
    assert ladder[0] == {"view"}
    assert ladder[-1] == {str(each) for each in actor.Permission}
    assert "decide" not in ladder[1]


def test_migrate_makes_the_groups() -> None:
    assert set(Group.objects.values_list("name", flat=True)) >= set(GROUPS)


def test_making_them_again_changes_nothing_that_an_administrator_changed() -> None:
    Group.objects.all().delete()
    own = Group.objects.create(name="admin")
    _make_groups()
    assert _permissions("admin") == set()
    Group.objects.get(name="senior").permissions.clear()
    _make_groups()
    assert _permissions("senior") == set()
    assert Group.objects.get(name="admin") == own
    assert Group.objects.count() == len(GROUPS)


@pytest.mark.parametrize("group", list(GROUPS))
def test_a_user_is_an_actor_with_the_permissions_of_the_group(group: str) -> None:
    Group.objects.all().delete()
    _make_groups()
    user = User.objects.create_user("anna")
    user.groups.add(Group.objects.get(name=group))
    found = actor_of(User.objects.get(pk=user.pk))
    assert (found.name, found.permissions) == ("anna", GROUPS[group])


def test_a_superuser_may_do_everything_and_an_inactive_one_nothing() -> None:
    root = User.objects.create_superuser("root")
    assert actor_of(root).permissions == frozenset(actor.Permission)
    root.is_active = False
    assert actor_of(root).permissions == frozenset()


def test_a_stranger_may_do_nothing() -> None:
    stranger = actor_of(AnonymousUser())
    assert (stranger.name, stranger.permissions) == ("anonymous", frozenset())


def test_the_permissions_exist_after_migrate_with_a_name_for_people() -> None:
    found = Permission.objects.filter(content_type__app_label="monitor")
    assert set(found.values_list("codename", flat=True)) == {str(p) for p in actor.Permission}
    assert all(each.name.startswith("May ") for each in found)
