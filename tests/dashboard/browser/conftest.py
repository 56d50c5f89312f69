"""A real Chromium on a live server; every console message is a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page

from tests.dashboard.conftest import SignIn

Open = Callable[..., Page]


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Everything the browser's console said; a test that expects something takes it out."""
    heard: list[str] = []
    yield heard
    assert heard == []


@pytest.fixture
def open_page(
    browser: Browser, live_server: Any, sign_in: SignIn, said: list[str]
) -> Iterator[Open]:
    """Opens a page as a person of a group (and name); options go to the browser's context."""
    contexts: list[BrowserContext] = []

    def opened(path: str, group: str = "senior", name: str = "", **options: Any) -> Page:
        client = sign_in(group, name or f"{group}-{len(contexts)}")
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        key = settings.SESSION_COOKIE_NAME
        cookie = {"name": key, "value": client.cookies[key].value, "url": live_server.url}
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
