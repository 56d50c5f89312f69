"""Case C59, logs and exports: no cell is a formula, no field forges a line, exports are acts."""

from __future__ import annotations

import csv
import io
import json
import logging.config
import tracemalloc

import pytest
from django.http import StreamingHttpResponse
from django.test import Client

from config.logging import configuration
from monitor.engine import telemetry
from tests import factory_figures
from tests.rows import one, rows, run

pytestmark = pytest.mark.django_db
ODD = (
    "x\r\n2026-01-01 ERROR admin login ok",
    "\x1b[2J",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "\u202egnp.exe",
)
MANY = 20_000


def _export(client: Client, **filters: str) -> list[list[str]]:
    response = client.post("/audit/export/", filters)
    assert isinstance(response, StreamingHttpResponse)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.getvalue().decode(), newline="")))


def test_no_cell_of_text_is_a_formula_or_a_control_character(viewer: Client) -> None:
    for reason in ODD:
        factory_figures.audit()
        run(
            "UPDATE comboio_audit SET reason = %(r)s WHERE id ="
            " (SELECT max(id) FROM comboio_audit)",
            r=reason,
        )
    head, *found = _export(viewer, verb="requeue")
    cells = [row[head.index("reason")] for row in found]
    assert len(cells) == len(ODD)
    for cell in cells:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert cell.translate({9: "", 10: ""}).isprintable()  # a tab, a line break in quotes


def test_a_number_stays_a_number_also_below_zero(viewer: Client) -> None:
    factory_figures.audit(object_id=-5)
    head, row = _export(viewer, verb="requeue")
    assert row[head.index("object id")] == "-5"


def test_the_filter_of_the_page_is_the_filter_of_the_export_which_is_an_act(
    viewer: Client,
) -> None:
    factory_figures.audit(actor="anna")
    factory_figures.audit(actor="bert")
    _head, *found = _export(viewer, actor="bert")
    assert [row[1] for row in found] == ["bert"]
    acts = "SELECT actor, detail->>'filter' FROM comboio_audit WHERE verb = 'export'"
    assert rows(acts) == [("victor", "?actor=bert")]


def test_who_may_not_look_may_not_export(client: Client) -> None:
    assert client.post("/audit/export/").status_code == 302
    assert one("SELECT count(*) FROM comboio_audit") == 0


def test_any_number_of_rows_is_exported_in_little_memory(viewer: Client) -> None:
    run(
        "INSERT INTO comboio_audit (actor, verb, object_kind, object_id, reason)"
        " SELECT 'anna', 'requeue', 'message', n, repeat('x', 200)"
        f" FROM generate_series(1, {MANY}) n"
    )
    response = viewer.post("/audit/export/", {"verb": "requeue"})
    assert isinstance(response, StreamingHttpResponse)
    tracemalloc.start()
    count = sum(1 for _line in response)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == MANY + 1
    assert peak < 10_000_000


def test_a_field_with_line_breaks_makes_one_line_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    form = logging.config.DictConfigurator(configuration(role="web", level="INFO"))
    formatter = form.configure_formatter(form.config["formatters"]["json"])
    telemetry.engine_event("child killed", pid=1, detail=ODD[0], error_class=ODD[1])
    (record,) = [each for each in caplog.records if "child killed" in str(each.msg)]
    line = formatter.format(record)
    assert json.loads(line)["detail"] == ODD[0]
    assert line.isascii()
    assert line.isprintable()
