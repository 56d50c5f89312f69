"""axe-core finds nothing serious on any page, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from dashboard import camera
from tests import needs
from tests.dashboard import scene
from tests.dashboard.browser.conftest import Open

pytestmark = pytest.mark.django_db(transaction=True)
# In the dark only colours differ.
_OPTIONS = {"light": {}, "dark": {"runOnly": ["color-contrast", "link-in-text-block"]}}
_RUN = """async (options) => {
  const found = await axe.run(document, {resultTypes: ["violations"], ...options});
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


def test_no_page_has_a_serious_finding_in_the_light_or_in_the_dark(
    open_page: Open, axe: str
) -> None:
    rows = scene.fill()
    page = open_page("/", reduced_motion="reduce")
    details = [
        f"/messages/{rows.dead}/",
        f"/messages/{rows.done}/",
        f"/sessions/{rows.held_session}/",
        f"/mismatches/{rows.mismatch}/",
        f"/messages/{rows.doubted}/",
        f"/reconcile/{rows.effect}/",
        f"/sessions/{rows.doubted_session}/",
        f"/consumers/{rows.payments}/",
        f"/sessions/{rows.gap_session}/",
        f"/messages/{rows.corrected}/",
        f"/messages/{rows.corrected}/correct/",
        *(f"/triage/{number}/" for number in rows.groups),
    ]
    found = {}
    for path in [address for _name, address in camera.LISTS] + details:
        page.goto(path)
        page.evaluate(f"(() => {{ {axe} }})()")
        for scheme, options in _OPTIONS.items():
            page.emulate_media(color_scheme=scheme)
            if findings := page.evaluate(_RUN, options):
                found[path, scheme] = findings
    assert found == {}
