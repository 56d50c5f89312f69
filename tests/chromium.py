"""One real Chromium for the whole test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from dashboard import camera
from tests import needs


@pytest.fixture(scope="session")
def database_beside_the_browser() -> Iterator[None]:
    """Playwright runs an event loop in this thread; Django would refuse its database beside it."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    yield
    patch.undo()


@pytest.fixture(scope="session")
def browser(database_beside_the_browser: None) -> Iterator[Browser]:
    program = camera.chromium() or needs.program("chromium", "chromium-browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=list(camera.FLAGS))
        yield started
        started.close()
