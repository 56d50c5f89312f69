from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from config import logging as ours


@pytest.fixture
def lines() -> Iterator[Any]:
    """Configure logging into a buffer; the returned function reads its events."""
    settings = ours.configuration(role="test", level="INFO")
    formatter = settings["formatters"]["json"]
    buffer = io.StringIO()
    handler = logging.StreamHandler(buffer)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=formatter["processors"], foreign_pre_chain=formatter["foreign_pre_chain"]
        )
    )
    logger = logging.getLogger("tests.lines")
    logger.addHandler(handler)
    yield lambda: [json.loads(line) for line in buffer.getvalue().split("\n")[:-1]]
    logger.removeHandler(handler)


@pytest.mark.parametrize("hostile", ["two\nlines", "\x1b[31mred", "right\u202eleft", "nul\x00"])
def test_an_event_is_one_line_of_json_whatever_stands_in_it(lines: Any, hostile: str) -> None:
    structlog.get_logger("tests.lines").info("delivery", session=hostile)
    logging.getLogger("tests.lines").warning("told by %s", hostile)

    first, second = lines()
    assert first["session"] == hostile
    assert second["event"] == f"told by {hostile}"


def test_a_line_holds_only_plain_characters() -> None:
    formatter = ours.configuration(role="test", level="INFO")["formatters"]["json"]
    made = formatter["processors"][-1](None, "info", {"event": "a\u202eb\x1b\r\n"})

    assert made.isascii()
    assert made.isprintable()


def test_an_event_says_process_level_time_and_logger(lines: Any) -> None:
    structlog.get_logger("tests.lines").error("broken", consumer="payments")

    (event,) = lines()
    assert event["process"] == "test"
    assert event["level"] == "error"
    assert event["logger"] == "tests.lines"
    assert event["timestamp"].endswith("Z")


def test_a_long_text_is_cut(lines: Any) -> None:
    structlog.get_logger("tests.lines").info("long", detail="x" * 5_000)

    (event,) = lines()
    assert event["detail"].endswith("… (5000 characters)")
    assert len(event["detail"]) < 2_100


def test_a_traceback_is_part_of_its_line(lines: Any) -> None:
    try:
        raise ValueError("no\nnewline")
    except ValueError:
        structlog.get_logger("tests.lines").exception("failed")

    (event,) = lines()
    assert "ValueError: no\nnewline" in event["exception"]
