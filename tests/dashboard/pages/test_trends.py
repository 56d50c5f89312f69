"""The large charts: readable without a script, in the viewer's zone, of all or of one consumer."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests import factories, factory_figures
from tests.dashboard import looking
from tests.dashboard.scene import Scene

pytestmark = pytest.mark.django_db
AREA = {"HX-Request": "true", "HX-Target": "section#trends"}


def _minutes_ago(minutes: int) -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=minutes)


def _data(html: str) -> dict[str, Any]:
    found = re.search(r'<script id="trends-data" type="application/json">(.*?)</script>', html)
    assert found
    return dict(json.loads(found[1]))


def test_each_chart_has_its_sentence_its_picture_and_its_table(
    viewer: Client, filled: Scene
) -> None:
    html = viewer.get("/").content.decode()
    for key in ("throughput", "durations", "shares"):
        assert f'id="trend-{key}"' in html
        assert f'id="trend-table-{key}"' in html
    assert html.count('class="still"') == 3
    assert html.count("<tr><td>") >= 180
    assert "came in and" in html
    assert "of the deliveries were duplicates" in html


def test_an_empty_inbox_says_so_in_each_chart(viewer: Client) -> None:
    html = viewer.get("/").content.decode()
    assert "Nothing came in and nothing was done in this time." in html
    assert "No handler ran in this time." in html
    assert "Nothing was received and no handler ran in this time." in html


@pytest.mark.parametrize(
    ("query", "name", "bins"),
    [
        ("", "60 min", 60),
        ("?range=6h", "6 h", 72),
        ("?range=24h", "24 h", 96),
        ("?range=7d", "7 d", 168),
        ("?range=nonsense", "60 min", 60),
    ],
)
def test_a_link_chooses_the_range(
    query: str, name: str, bins: int, viewer: Client, filled: Scene
) -> None:
    html = viewer.get(f"/{query}").content.decode()
    assert f'aria-current="true">{name}</a>' in html
    data = _data(html)
    assert len(data["at"]) == bins
    for chart in data["charts"].values():
        assert {len(values) for values in chart["values"]} == {bins}


def test_the_script_and_the_table_have_the_same_values(viewer: Client) -> None:
    owner = factories.consumer()
    factory_figures.counted(owner, _minutes_ago(5), name="received", label="new", value=150)
    html = viewer.get("/").content.decode()
    values = _data(html)["charts"]["throughput"]["values"][0]
    assert values[-6:] == [2.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    table = html[html.index('id="trend-table-throughput"') :]
    row = f'<td>{_minutes_ago(5):%H:%M}</td><td class="number">2.5</td>'
    assert row in table
    assert values[0] is None, "nothing is known from before there was anything"
    assert '<td class="number">—</td>' in table


def test_the_last_bin_is_marked_as_not_over(viewer: Client) -> None:
    factories.consumer()
    html = viewer.get("/").content.decode()
    assert f"{_minutes_ago(0):%H:%M}, not over yet" in html
    assert html.count("<title>not over yet</title>") == 3


def test_times_are_those_of_the_viewers_zone(viewer: Client) -> None:
    owner = factories.consumer()
    at = _minutes_ago(5)
    factory_figures.counted(owner, at, name="received", label="new", value=150)
    viewer.cookies["tz"] = "Asia/Kathmandu"
    html = viewer.get("/").content.decode()
    assert "from (Asia/Kathmandu)" in html
    assert f"{at + timedelta(hours=5, minutes=45):%H:%M}</td>" in html
    assert _data(html)["zone"] == "Asia/Kathmandu"


def test_what_happened_stands_in_words_in_the_picture_and_in_the_tables(viewer: Client) -> None:
    owner = factories.consumer(name="payments")
    factory_figures.deploy("41", _minutes_ago(500))
    factory_figures.deploy("42 <b>", _minutes_ago(20))
    factory_figures.audit(verb="hold", kind="consumer", object_id=owner, at=_minutes_ago(10))
    html = viewer.get("/").content.decode()
    markup = looking.Markup(html)
    assert "Deploy of 42 <b>, before it 41" in markup.text
    assert "payments held: fixed" in markup.text
    assert html.count('class="mark"') == 6, "two in each of three charts"
    assert html.count("what happened</th>") == 3
    assert f"/audit/?object=consumer:{owner}" in html


def test_the_area_alone_is_read_again_without_the_page(viewer: Client, filled: Scene) -> None:
    html = viewer.get("/?range=6h", headers=AREA).content.decode()
    assert "<html" not in html
    assert 'id="trends"' not in html
    assert len(_data(html)["at"]) == 72


def test_the_live_piece_does_not_count_the_charts_again(viewer: Client, filled: Scene) -> None:
    assert "trend-throughput" not in viewer.get("/", headers=looking.PIECE).content.decode()


def test_a_consumer_has_the_charts_of_its_own(viewer: Client) -> None:
    mine, other = factories.consumer(), factories.consumer()
    factory_figures.counted(mine, _minutes_ago(5), name="received", label="new", value=150)
    factory_figures.counted(other, _minutes_ago(5), name="received", label="new", value=600)
    html = viewer.get(f"/consumers/{mine}/").content.decode()
    assert _data(html)["charts"]["throughput"]["values"][0][-6] == 2.5
    piece = viewer.get(f"/consumers/{mine}/", headers=AREA).content.decode()
    assert _data(piece)["charts"]["throughput"]["values"][0][-6] == 2.5


def test_a_consumer_shows_its_types_its_causes_and_its_workers(viewer: Client) -> None:
    owner = factories.consumer()
    factory_figures.type_hour(owner, "payment.settled", runs=10, seconds=3)
    factory_figures.type_hour(owner, "", runs=10, seconds=1, is_rest=True)
    factories.message(owner, state="dead", error="ValueError: no such account")
    running = factories.message(owner, session="acc-1")
    factory_figures.worker(process="child", ids=[running])
    html = viewer.get(f"/consumers/{owner}/").content.decode()
    text = " ".join(looking.Markup(html).text.split())
    assert "payment.settled 75.0 % 3.0 s 10 300 ms" in text
    assert "other types 25.0 %" in text
    assert "ValueError: no such account" in text
    assert f"consumer={owner}" in html
    assert "acc-1" in text
