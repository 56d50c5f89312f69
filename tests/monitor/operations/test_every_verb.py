"""What all verbs have in common: permission, one winner, one trace, all or nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from monitor.domain.actor import Permission
from monitor.domain.errors import PermissionRefusedError, RefusedError
from monitor.store import rollup
from tests.monitor.operations import effect_scenes
from tests.monitor.operations.scenes import SCENES, Scene, everything
from tests.people import CLARA, DORA, VIEWER, person
from tests.rows import rows

pytestmark = pytest.mark.django_db

each_verb = pytest.mark.parametrize(
    "make", SCENES + effect_scenes.SCENES, ids=lambda make: make.__name__
)


@each_verb
def test_it_says_what_it_did(make: Callable[[], Scene]) -> None:
    scene = make()
    done = scene.use(CLARA)
    assert (done.verb, done.count) == (scene.verb, 1)
    assert done.text.endswith((".", "person")), done.text


@each_verb
def test_it_leaves_one_audit_row_one_count_and_one_line_in_the_timeline(
    make: Callable[[], Scene],
) -> None:
    scene = make()
    scene.use(CLARA)
    assert rows("SELECT actor, verb, object_kind, object_id FROM comboio_audit") == [
        ("clara", scene.verb, *scene.target)
    ]
    counted = rows(
        "SELECT consumer, label, value FROM comboio_rollup_delta WHERE name = 'operator_actions'"
    )
    assert counted == [(0, scene.verb, 1.0)]
    if scene.message is not None:
        assert rows(
            "SELECT kind, actor FROM comboio_event WHERE message_id = %(id)s", id=scene.message
        ) == [(scene.verb, "clara")]


@each_verb
def test_without_the_permission_nothing_is_changed(make: Callable[[], Scene]) -> None:
    scene = make()
    before = everything()
    lacking = person("otto", *(set(Permission) - {scene.permission}))
    for actor in (VIEWER, lacking):
        with pytest.raises(PermissionRefusedError, match=str(scene.permission)):
            scene.use(actor)
    assert everything() == before


@each_verb
def test_the_permission_alone_is_enough(make: Callable[[], Scene]) -> None:
    scene = make()
    assert scene.use(person("otto", scene.permission)).count == 1


@each_verb
def test_the_second_click_is_refused_and_says_who_was_faster(make: Callable[[], Scene]) -> None:
    scene = make()
    scene.use(CLARA)
    after = everything()
    with pytest.raises(RefusedError, match=r"by clara at \d\d:\d\d UTC.*reload the page"):
        scene.use(DORA)
    assert everything() == after


@each_verb
def test_when_its_end_fails_nothing_stays(
    make: Callable[[], Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = make()
    before = everything()

    def fail(*_: object) -> None:
        raise RuntimeError("the last statement failed")

    monkeypatch.setattr(rollup, "add", fail)
    with pytest.raises(RuntimeError):
        scene.use(CLARA)
    assert everything() == before


@each_verb
def test_the_act_is_undone_when_its_audit_row_cannot_be_written(
    make: Callable[[], Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = make()
    before = everything()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no audit, no act")

    monkeypatch.setattr("monitor.store.audit.write", fail)
    monkeypatch.setattr("monitor.store.audit.write_many", fail)
    with pytest.raises(RuntimeError):
        scene.use(CLARA)
    assert everything() == before
