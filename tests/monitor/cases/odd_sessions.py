"""Session ids as foreign senders make them."""

from __future__ import annotations

from typing import Any

ABSENT: Any = object()
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"  # four people, joined

NONE: tuple[Any, ...] = (ABSENT, None, "")  # no session: every message is its own
ODD = (
    " ",
    "a/b",
    "..",
    "%2F",
    "<img src=x onerror=alert(1)>",
    FAMILY,
    "x" * 128,
    "é" * 128,  # 256 bytes, the most
)
BROKEN = ("y" * 5000, "é" * 129, "a\tb")
