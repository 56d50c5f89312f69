"""A page or a piece that takes too long says so, and what can be done."""

from __future__ import annotations

import pytest
from django.test import Client

from monitor.reports import audit, reading
from tests.dashboard import looking

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of the audit takes five seconds, and a report has a twentieth of one."""
    monkeypatch.setitem(audit.SQL, "newest", "SELECT pg_sleep(5)")
    monkeypatch.setattr(reading.reading.__wrapped__, "__defaults__", (0.05,))  # type: ignore[attr-defined]


def test_it_is_answered_in_words_with_ways_on(viewer: Client) -> None:
    response = viewer.get("/audit/?actor=anna")
    html = response.content.decode()
    assert response.status_code == 503
    text = " ".join(looking.Markup(html).text.split())
    assert "Stopped after 0.05 s: too much to look through. Narrow the filter." in text
    assert 'href="/audit/?actor=anna"' in html  # try again
    assert 'href="/audit/"' in html


def test_a_piece_is_not_swapped_in(viewer: Client) -> None:
    response = viewer.get("/audit/", headers=looking.PIECE)
    assert response.status_code == 503  # the page keeps what it shows and gets stale


def test_the_next_page_is_as_fast_as_ever(viewer: Client) -> None:
    viewer.get("/audit/")
    assert viewer.get("/alerts/").status_code == 200
