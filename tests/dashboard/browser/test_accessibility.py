"""axe-core finds nothing serious on any page, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page

from dashboard import camera
from tests import needs
from tests.dashboard import scene
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)
_RUN = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]);
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    path = Path(settings.BASE_DIR, "node_modules", "axe-core", "axe.min.js")
    if not path.is_file():
        needs.missing("axe-core is not installed (npm ci)")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_finding(scheme: str, open_page: Open, axe: str) -> None:
    rows = scene.fill()
    page = open_page("/", color_scheme=scheme, reduced_motion="reduce")
    details = [
        f"/messages/{rows.dead}/",
        f"/messages/{rows.done}/",
        f"/sessions/{rows.held_session}/",
        f"/mismatches/{rows.mismatch}/",
        f"/messages/{rows.doubted}/",
        f"/reconcile/{rows.effect}/",
        f"/sessions/{rows.doubted_session}/",
        f"/consumers/{rows.payments}/",
    ]
    found = {}
    for path in [address for _name, address in camera.LISTS] + details:
        page.goto(path)
        if findings := _findings(page, axe):
            found[path] = findings
    assert found == {}


def _findings(page: Page, axe: str) -> list[list[str]]:
    page.evaluate(f"(() => {{ {axe} }})()")
    return list(page.evaluate(_RUN))
