"""Takes a picture of every page in a browser, and notes everything that is wrong with one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LISTS = (
    ("overview", "/"),
    ("triage", "/triage/"),
    ("triage-snoozed", "/triage/?show=snoozed"),
    ("triage-resolved", "/triage/?show=resolved"),
    ("overview-day", "/?range=24h"),
    ("alerts", "/alerts/"),
    ("alerts-resolved", "/alerts/?show=resolved"),
    ("dead-letters", "/dead-letters/"),
    ("requeues", "/requeues/"),
    ("requeue-plan", "/requeues/plan/"),
    ("mismatches", "/mismatches/"),
    ("mismatches-decided", "/mismatches/?show=decided"),
    ("reconcile", "/reconcile/"),
    ("reconcile-conflict", "/reconcile/?show=conflict"),
    ("reconcile-settled", "/reconcile/?show=settled"),
    ("sessions", "/sessions/"),
    ("sessions-blocked", "/sessions/?show=blocked"),
    ("messages", "/messages/"),
    ("messages-no-match", "/messages/?q=no-such-key"),
    ("duplicates", "/duplicates/"),
    ("duplicates-origin", "/duplicates/?show=origin"),
    ("consumers", "/consumers/"),
    ("audit", "/audit/"),
    ("system", "/system/"),
)
# One page of each kind that only a row leads to: found by its link on a list.
DETAILS = (
    ("message-dead", "/dead-letters/", r"^/messages/\d+/$"),
    ("group-dead", "/triage/?kind=dead%20letter", r"^/triage/\d+/$"),
    ("group-session", "/triage/?kind=held%20session", r"^/triage/\d+/$"),
    ("group-effect", "/triage/?kind=effect%20in%20doubt", r"^/triage/\d+/$"),
    ("group-mismatch", "/triage/?kind=mismatch", r"^/triage/\d+/$"),
    ("requeue", "/requeues/", r"^/requeues/\d+/$"),
    ("message-done", "/messages/?state=done", r"^/messages/\d+/$"),
    ("message-ready", "/messages/?state=ready", r"^/messages/\d+/$"),
    ("message-discarded", "/messages/?state=discarded", r"^/messages/\d+/$"),
    ("message-in-doubt", "/messages/?state=in_doubt", r"^/messages/\d+/$"),
    ("effect", "/reconcile/", r"^/reconcile/\d+/$"),
    ("effect-conflict", "/reconcile/?show=conflict", r"^/reconcile/\d+/$"),
    ("effect-settled", "/reconcile/?show=settled", r"^/reconcile/\d+/$"),
    ("session-blocked", "/sessions/?show=blocked", r"^/sessions/\d+/$"),
    ("session", "/sessions/", r"^/sessions/\d+/$"),
    ("mismatch", "/mismatches/", r"^/mismatches/\d+/$"),
    ("mismatch-decided", "/mismatches/?show=decided", r"^/mismatches/\d+/$"),
    ("consumer", "/consumers/", r"^/consumers/[1-9]\d*/$"),
)
_TALLEST = 6000
_LEAST_TEXT = 20
_SCROLLS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
_HEIGHT = "document.documentElement.scrollHeight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a page is looked at."""

    name: str
    width: int
    height: int
    scheme: str
    is_phone: bool = False


LOOKS = (
    Look(name="light", width=1440, height=900, scheme="light"),
    Look(name="dark", width=1440, height=900, scheme="dark"),
    Look(name="phone", width=390, height=844, scheme="light", is_phone=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One picture and what is wrong with its page."""

    path: Path
    faults: tuple[str, ...]


def chromium() -> str | None:
    """The path of the system's Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def take(program: str, url: str, cookies: dict[str, str], folder: Path) -> Iterator[Taken]:
    """Every page at this address in every look, as PNG files in the folder, one after the other."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            for look in LOOKS:
                yield from _album(browser, look, url, cookies, folder)
        finally:
            browser.close()


def _album(
    browser: Browser, look: Look, url: str, cookies: dict[str, str], folder: Path
) -> Iterator[Taken]:
    stranger = _context(browser, look, url, {})
    yield _picture(stranger, "login", f"{url}/login/", folder / f"login-{look.name}.png")
    stranger.close()
    context = _context(browser, look, url, cookies)
    pages = [*LISTS, *_found_details(context, url)]
    for name, address in pages:
        yield _picture(context, name, f"{url}{address}", folder / f"{name}-{look.name}.png")
    context.close()


def _context(browser: Browser, look: Look, url: str, cookies: dict[str, str]) -> BrowserContext:
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme="dark" if look.scheme == "dark" else "light",
        reduced_motion="reduce",
        is_mobile=look.is_phone,
        has_touch=look.is_phone,
        locale="en-GB",
    )
    host = urlsplit(url).hostname or "127.0.0.1"
    for name, value in cookies.items():
        context.add_cookies([{"name": name, "value": value, "domain": host, "path": "/"}])
    return context


def _found_details(context: BrowserContext, url: str) -> Iterator[tuple[str, str]]:
    page = context.new_page()
    for name, address, pattern in DETAILS:
        page.goto(f"{url}{address}")
        links = page.locator("#live a[href]").evaluate_all(
            "all => all.map(one => one.getAttribute('href'))"
        )
        base = address.partition("?")[0]
        full = (base + link if link.startswith("?") else link for link in links)
        found = next((link for link in full if re.match(pattern, link)), None)
        if found is not None:
            yield name, found
    page.close()


def _picture(context: BrowserContext, name: str, address: str, path: Path) -> Taken:
    faults: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: faults.append(_said(message)))
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    try:
        response = page.goto(address, wait_until="networkidle")
        if response is None or not response.ok:
            faults.append(f"HTTP {response.status if response else 'no answer'}")
        faults.extend(_look(page))
        size = page.viewport_size or {"width": 390, "height": 844}
        tall = min(_TALLEST, max(size["height"], int(page.evaluate(_HEIGHT))))
        page.set_viewport_size({"width": size["width"], "height": tall})
        page.screenshot(path=path)
    except BrowserError as error:
        faults.append(f"no picture: {error.message.splitlines()[0]}")
    page.close()
    return Taken(path=path, faults=tuple(f"{name}: {fault}" for fault in faults))


def _look(page: Page) -> Iterator[str]:
    if page.evaluate(_SCROLLS):
        yield "it scrolls sideways"
    text = page.locator("main").inner_text().strip()
    if len(text) < _LEAST_TEXT:
        yield "its main area is empty"


def _said(message: ConsoleMessage) -> str:
    return f"console {message.type}: {message.text}"
