"""The command line that a page shows does what its button does, whatever the texts hold."""

from __future__ import annotations

import re
import shlex
import subprocess
from html import unescape

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests import factories
from tests.dashboard import looking
from tests.dashboard.conftest import SignIn
from tests.dashboard.scene import HOSTILE
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)


def _lines(client: Client, address: str) -> list[str]:
    html = client.get(address).content.decode()
    return [unescape(each) for each in re.findall(r'<pre id="command-\d+"[^>]*>(.*?)</pre>', html)]


def _words(line: str) -> list[str]:
    """The words as bash takes them."""
    done = subprocess.run(
        ["/bin/bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
    )
    program, *words = done.stdout.decode().rstrip("\0").split("\0")
    assert program == "./manage.py"
    return words


def test_the_line_of_a_dead_message_requeues_it(operator: Client) -> None:
    dead = factories.message(factories.consumer(), state="dead")
    lines = _lines(operator, f"/messages/{dead}/")
    assert not [each for each in lines if "discard" in each]  # she may not
    (line,) = [each for each in lines if " requeue " in each]
    call_command(*_words(line))
    assert looking.state(dead) == "ready"
    with pytest.raises(CommandError, match="requeued by olga"):
        call_command(*_words(line))


def test_each_verb_of_the_page_has_its_line(senior: Client) -> None:
    dead = factories.message(factories.consumer(), state="dead")
    lines = _lines(senior, f"/messages/{dead}/")
    assert [_words(each)[0] for each in lines] == [
        "message",
        "message",
        "requeue",
        "replay",
        "discard",
    ]
    call_command(*_words(lines[-1]))
    (line,) = [each for each in _lines(senior, f"/messages/{dead}/") if "restore" in each]
    call_command(*_words(line))
    assert looking.state(dead) == "dead"


def test_a_viewer_is_shown_what_a_viewer_may_do(viewer: Client) -> None:
    dead = factories.message(factories.consumer(), state="dead")
    assert [_words(each) for each in _lines(viewer, f"/messages/{dead}/")] == [
        ["message", str(dead)]
    ]


@pytest.mark.parametrize("cause", [*HOSTILE, "it's $(id) `id` \\ \u202e ü\n;", "poison: x\x1b[2J"])
def test_the_line_of_a_plan_names_exactly_its_cause(cause: str, sign_in: SignIn) -> None:
    dead = factories.message(factories.consumer(), state="dead", cause=cause)
    other = factories.message(factories.consumer(), state="dead", cause="other")
    client = sign_in("operator", "o'neil")
    html = client.get("/requeues/plan/", {"cause": cause}).content.decode()
    found = re.findall(r'<pre id="command-\d+"[^>]*>(.*?)</pre>', html, re.DOTALL)
    first, every = (unescape(each) for each in found)
    assert first == f"{every} --one-first"
    words = _words(every)
    stored = one("SELECT cause FROM comboio_dead WHERE id = %(i)s", i=dead)
    assert words[words.index("--cause") + 1].strip() == stored.strip()
    assert every.isprintable()
    call_command(*words)
    assert (looking.state(dead), looking.state(other)) == ("ready", "dead")


def test_plain_words_are_plain(operator: Client) -> None:
    factories.message(factories.consumer(), state="dead")
    every = _lines(operator, "/requeues/plan/")[-1]
    version = one("SELECT max(version) FROM comboio_dead")
    words = f"./manage.py requeue --all --up-to {version} --as olga"
    assert shlex.split(every) == words.split()
