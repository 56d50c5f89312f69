"""Commands that use a verb: as a person, with that person's permissions, on the real tables."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from tests import factories
from tests.rows import one, rows

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests


@pytest.fixture(autouse=True)
def _people(db: None) -> None:
    """Olga the operator, Sara the senior, Victor the viewer, and Ines, who is inactive."""
    users = get_user_model().objects
    for name, group in (("olga", "operator"), ("sara", "senior"), ("victor", "viewer")):
        users.create_user(name).groups.add(apps.get_model("auth", "Group").objects.get(name=group))
    users.create_superuser("ines", is_active=False)


def _call(*words: Any) -> str:
    out = io.StringIO()
    call_command(words[0], *map(str, words[1:]), stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def _refused(*words: Any) -> tuple[int, str]:
    with pytest.raises(CommandError) as caught:
        _call(*words)
    return caught.value.returncode, str(caught.value)


def _acts() -> list[tuple[Any, ...]]:
    return rows("SELECT actor, verb, object_kind, object_id, reason FROM comboio_audit ORDER BY id")


def _state(number: int) -> str:
    return str(one("SELECT state FROM comboio_message_state WHERE id = %(i)s", i=number))


def test_requeue_does_what_the_button_does_and_says_who_and_why() -> None:
    dead = factories.message(factories.consumer(), state="dead")
    text = _call("requeue", dead, "--as", "olga", "--reason", "the fix is live")
    assert text == f"Message {dead} is ready again."
    assert _state(dead) == "ready"
    assert _acts() == [("olga", "requeue", "message", dead, "the fix is live")]
    told = one("SELECT detail->>'note' FROM comboio_event WHERE message_id = %(i)s", i=dead)
    assert told == "the fix is live"


def test_json_says_the_same_for_programs() -> None:
    dead = factories.message(factories.consumer(), state="dead")
    found = json.loads(_call("requeue", dead, "--as", "olga", "--json"))
    assert (found["verb"], found["count"], found["text"][:7]) == ("requeue", 1, "Message")


def test_a_version_that_was_seen_guards_as_on_the_page() -> None:
    dead = factories.message(factories.consumer(), state="dead")
    seen = one("SELECT version FROM comboio_dead")
    _call("requeue", dead, "--seen", seen, "--as", "olga")
    status, text = _refused("requeue", dead, "--seen", seen, "--as", "olga")
    assert (status, "requeued by olga" in text) == (3, True)
    assert len(_acts()) == 1


@pytest.mark.parametrize(
    ("words", "permission"),
    [
        (("requeue", "{}", "--as", "victor"), "operate"),
        (("discard", "{}", "--as", "olga"), "decide"),
        (("restore", "{}", "--as", "olga"), "decide"),
        (("replay", "{}", "/dev/null", "--as", "olga", "--reason", "x"), "decide"),
        (("hold", "session", "{s}", "--as", "victor"), "operate"),
        (("hold", "consumer", "shop", "--as", "ines"), "operate"),
        (("resume", "consumer", "shop", "--as", "victor"), "operate"),
        (("requeue", "--all", "--as", "victor"), "operate"),
        (("message", "{}", "--as", "victor"), "reveal_payload"),
        (("message", "{}", "--reveal", "--as", "victor"), "reveal_payload"),
    ],
)
def test_without_the_permission_nothing_is_done_and_the_status_is_4(
    words: tuple[str, ...], permission: str
) -> None:
    dead = factories.message(factories.consumer(name="shop"), state="dead")
    session = one("SELECT session FROM comboio_message")
    status, text = _refused(*(each.format(dead, s=session) for each in words))
    assert (status, permission in text) == (4, True)
    assert _acts() == []
    assert _state(dead) == "dead"


def test_nobody_acts_without_a_name_that_is_known() -> None:
    dead = factories.message(factories.consumer(), state="dead")
    status, text = _refused("discard", dead, "--as", "nob\x1b[2Jody")
    assert (status, text) == (4, "There is no user nob\\x1b[2Jody.")
    with pytest.raises(CommandError, match="--as"):
        _call("discard", dead)


def test_several_messages_are_requeued_and_one_refusal_stops_no_other() -> None:
    owner = factories.consumer()
    first, done, last = (factories.message(owner, state=s) for s in ("dead", "done", "dead"))
    status, text = _refused("requeue", first, done, last, "--as", "olga")
    assert (status, text) == (3, "2 requeued, 1 refused.")
    assert [_state(each) for each in (first, done, last)] == ["ready", "done", "ready"]


def test_a_set_is_frozen_and_can_be_tried_with_one() -> None:
    owner = factories.consumer(name="shop")
    numbers = [factories.message(owner, state="dead", cause="c'1") for _ in range(3)]
    other = factories.message(owner, state="dead", cause="other")
    text = _call("requeue", "--cause", "c'1", "--one-first", "--as", "olga", "--reason", "try")
    assert "1 requeued, 2 wait" in text
    assert [_state(each) for each in (*numbers, other)] == ["ready", "dead", "dead", "dead"]
    status, text = _refused("requeue", "--consumer", "shop", "--up-to", 1, "--as", "olga")
    assert status == 3
    assert "dead any more" in text
    assert ("olga", "requeue many", "bulk", 1, "try") in [(*row[:3], 1, row[4]) for row in _acts()]


@pytest.mark.parametrize(
    "words",
    [
        ("requeue",),
        ("requeue", "7", "--all"),
        ("requeue", "--consumer", "nobody"),
        ("requeue", "7", "8", "--seen", "1"),
        ("requeue", "--all", "--stop-at", "101"),
        ("requeue", "7"),
        ("discard", "7"),
        ("hold", "session", "x"),
        ("hold", "session", "7", "--minutes", "3"),
        ("resume", "session", "7"),
        ("replay", "7", "/no/such/file"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_done(words: tuple[str, ...]) -> None:
    factories.message(factories.consumer(), state="dead")
    status, text = _refused(*words, "--as", "sara")
    assert status in (1, 3)
    assert text
    assert _acts() == []


def test_discard_and_its_way_back() -> None:
    dead = factories.message(factories.consumer(), state="dead")
    _call("discard", dead, "--as", "sara", "--reason", "a test")
    assert _state(dead) == "discarded"
    _call("restore", dead, "--as", "sara")
    assert _state(dead) == "dead"
    assert [row[1] for row in _acts()] == ["discard", "restore"]


def test_replay_takes_the_payload_of_a_file(tmp_path: Path) -> None:
    dead = factories.message(factories.consumer(), state="dead", payload={"n": 1})
    file = tmp_path / "corrected.json"
    file.write_text('{"n": 12345678901234567890123}', encoding="utf-8")
    _call("replay", dead, file, "--as", "sara", "--reason", "the number")
    assert rows("SELECT payload FROM comboio_revision") == [(file.read_bytes(),)]
    assert _state(dead) == "ready"


def test_hold_and_resume_a_session_and_a_consumer() -> None:
    number = factories.message(factories.consumer(name="shop"))
    session = one("SELECT session FROM comboio_message WHERE id = %(i)s", i=number)
    _call("hold", "session", session, "--as", "olga", "--reason", "wait")
    assert one("SELECT held FROM comboio_gate")
    _call("resume", "session", session, "--as", "olga")
    assert one("SELECT count(*) FROM comboio_gate") == 0
    _call("hold", "consumer", "shop", "--minutes", 5, "--as", "olga", "--reason", "wait")
    assert one("SELECT held_until > now() FROM comboio_consumer WHERE name = 'shop'")
    _call("resume", "consumer", "shop", "--as", "olga")
    assert not one("SELECT held FROM comboio_consumer WHERE name = 'shop'")
    assert [row[1] for row in _acts()] == ["hold", "resume"] * 2


def test_a_message_is_told_without_its_payload_and_harmless_to_a_terminal() -> None:
    number = factories.message(
        factories.consumer(),
        state="dead",
        key="k\x1b[2J\u202e",
        payload={"amount": 77_123},
        error="boom\x1b[31m",
    )
    text = _call("message", number)
    assert "k\\x1b[2J\\u202e" in text
    assert "version: " in text
    assert "77123" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    found = json.loads(_call("message", number, "--json"))
    assert found["row"]["state"] == "dead"
    assert found["payload"] is None


def test_the_payload_is_redacted_for_those_who_may_see_it_and_revealing_it_is_an_act() -> None:
    body = {"password": SECRET, "n": 12345678901234567890123}
    number = factories.message(factories.consumer(), state="done", payload=body, result=body)
    text = _call("message", number, "--as", "olga")
    assert "12345678901234567890123" in text
    assert SECRET not in text
    assert _acts() == []
    assert SECRET not in _call("message", number, "--as", "olga", "--json")
    assert "12345678901234567890123" not in _call("message", number, "--json")
    text = _call("message", number, "--reveal", "--as", "olga", "--reason", "ticket 7")
    assert SECRET in text
    assert _acts() == [("olga", "reveal", "message", number, "ticket 7")]
    assert _refused("message", number, "--reveal")[0] == 1
