"""The whole product as `up` starts it: GitHub's webhooks to the console, and a kill while busy."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from config.launch import postgres
from examples.demo import github_set
from monitor.domain.message import Delivery
from monitor.engine import directory, ingest
from tests import needs
from tests.config.launch.running import Up, are_gone, free_port
from tests.entrance import github_headers
from tests.waiting import wait_until

SECRET = "of this journey"  # noqa: S105
NODE_MODULES = Path(__file__).parents[2] / "node_modules"
EFFECTS = "SELECT count(*) FROM github_triage_timelineentry"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running product with a known secret for GitHub."""
    data = tmp_path_factory.mktemp("up") / "var"
    running = Up(data, free_port(), COMBOIO_SECRET_GITHUB=SECRET).wait_ready()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def opened() -> bytes:
    """A real webhook of GitHub: somebody opened an issue."""
    return next(
        json.dumps(hook.payload).encode()
        for hook in github_set.webhooks(NODE_MODULES)
        if hook.event == "issues" and hook.payload["action"] == "opened"
    )


@pytest.fixture
def page(browser: Browser, up: Up) -> Iterator[Page]:
    """A browser in which the first login has logged in."""
    context: BrowserContext = browser.new_context(base_url=f"http://127.0.0.1:{up.port}")
    page = context.new_page()
    page.set_default_timeout(10_000)
    password = re.search(r"Password: (\S+)", up.said)
    assert password is not None
    page.goto("/login/")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(password.group(1))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    yield page
    context.close()


def _ask(up: Up, query: str) -> Any:
    """The one value that a query finds in the database of `up`."""
    with psycopg.connect(_url(up)) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def _url(up: Up) -> str:
    return postgres.url(up.data / "run" / "postgres", "comboio")


def _post(up: Up, body: bytes, key: str, *, secret: str = SECRET) -> tuple[int, dict[str, Any]]:
    """Status and answer of a webhook."""
    headers = {"Content-Type": "application/json", **github_headers(body, key, secret=secret)}
    sender = http.client.HTTPConnection("127.0.0.1", up.port, timeout=10)
    with contextlib.closing(sender):
        sender.request("POST", "/ingest/github", body=body, headers=headers)
        response = sender.getresponse()
        return response.status, json.load(response)


def test_a_wrong_secret_leaves_no_row(up: Up, opened: bytes) -> None:
    before = _ask(up, "SELECT count(*) FROM comboio_message")
    status, _ = _post(up, opened, "forged", secret="another one")  # noqa: S106
    assert status == 401
    assert _ask(up, "SELECT count(*) FROM comboio_message") == before


def test_the_same_webhook_twice_has_one_effect(up: Up, opened: bytes) -> None:
    before = _ask(up, EFFECTS)
    assert _post(up, opened, "twice")[0] == 202
    assert _post(up, opened, "twice")[0] == 200
    wait_until(lambda: _post(up, opened, "twice")[1]["state"] == "done", 10)
    # The state told is of one consumer; each of the others has a message of its own.
    wait_until(lambda: _ask(up, "SELECT count(*) FROM comboio_ready") == 0, 30)
    once = _ask(up, EFFECTS)
    assert once > before
    assert _post(up, opened, "twice")[0] == 200
    assert _ask(up, EFFECTS) == once


def test_a_changed_body_is_on_the_page_at_its_next_look_and_runs_once_when_accepted(
    up: Up, page: Page, opened: bytes
) -> None:
    second = json.dumps({**json.loads(opened), "action": "reopened"}).encode()
    assert _post(up, opened, "changed")[0] == 202
    wait_until(lambda: _post(up, opened, "changed")[1]["state"] == "done", 10)
    page.goto("/mismatches/")
    expect(page.locator("main")).to_contain_text("No open mismatch")
    page.mouse.move(200, 200)  # Somebody is there, so the page looks every two seconds.
    assert _post(up, second, "changed")[0] == 422
    begun = time.monotonic()
    expect(page.locator("main")).to_contain_text("changed", timeout=5_000)
    assert time.monotonic() - begun < 2.5  # it looks every two seconds, and then draws
    page.goto("/alerts/")
    expect(page.locator("main")).to_contain_text("came again with another payload")
    _accept_every_second(up, page)
    assert _post(up, second, "changed")[0] == 200  # It is known now.


def _accept_every_second(up: Up, page: Page) -> None:
    """Accept the second payload of each consumer; each runs once."""
    for number in _open_mismatches(up):
        page.goto(f"/mismatches/{number}/")
        page.get_by_text("Accept second…").click()
        page.get_by_label("Reason").last.fill("the sender was right")
        page.get_by_role("button", name="Accept second").last.click()
        wait_until(lambda n=number: n not in _open_mismatches(up), 10)
    accepted = "SELECT count(*) FROM comboio_mismatch WHERE accepted_id IS NOT NULL"
    ran = "SELECT count(*) FROM comboio_done WHERE id IN (SELECT accepted_id FROM comboio_mismatch)"
    wait_until(lambda: _ask(up, ran) == _ask(up, accepted), 10)


def _open_mismatches(up: Up) -> list[int]:
    query = "SELECT array_agg(id ORDER BY id) FROM comboio_mismatch WHERE verdict IS NULL"
    return _ask(up, query) or []


def test_a_kill_while_the_worker_is_busy_leaves_no_process(tmp_path: Path) -> None:
    with Up(tmp_path / "var", free_port()) as up:
        family = up.family()
        _fill(up, 3_000)
        wait_until(
            lambda: _ask(up, "SELECT count(*) FROM comboio_worker WHERE ids <> '{}'"),
            20,
            what="a busy child",
        )
        up.process.kill()
        up.process.wait()
        wait_until(lambda: are_gone(family), 10, what="no process after the death of up")

    waiting = "SELECT count(*) FROM comboio_ready"
    with Up(tmp_path / "var", up.port) as again:
        wait_until(lambda: _ask(again, waiting) == 0, 120, what="the rest")
        assert _ask(again, "SELECT count(*) FROM payments_ledgerentry") == 3_000
        assert _ask(again, "SELECT count(DISTINCT message_key) FROM payments_ledgerentry") == 3_000
        assert again.stop() == 0


def _fill(up: Up, messages: int) -> None:
    """Store payments in the inbox, all seen at once: none is booked before the last is there."""
    directory.forget()
    with psycopg.connect(_url(up)) as connection:
        for first in range(0, messages, 500):
            ingest.accept(connection.cursor(), [_payment(n) for n in range(first, first + 500)])
    directory.forget()


def _payment(number: int) -> Delivery:
    body = {"account": f"a-{number % 100}", "sequence": number, "amount_cents": 1}
    return Delivery(
        source="payments",
        origin="payments",
        key=f"p-{number}",
        type="payment",
        payload=json.dumps(body).encode(),
    )


def test_a_live_scrape_satisfies_promtool(up: Up) -> None:
    promtool = needs.program("promtool")
    scraper = http.client.HTTPConnection("127.0.0.1", up.port, timeout=10)
    with contextlib.closing(scraper):
        scraper.request("GET", "/metrics")
        response = scraper.getresponse()
        assert response.status == 200
        text = response.read()
    assert b"comboio_database_up 1.0" in text
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
