"""Loads named statements from the .sql files beside the modules that run them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from django.db.backends.utils import CursorWrapper

# Every store function takes one of these two and never commits; Django's binds on the client.
Cursor: TypeAlias = psycopg.Cursor[Any] | CursorWrapper

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load(module_file: str) -> dict[str, str]:
    """The statements of the .sql file next to a module, by name: SQL = load(__file__)."""
    path = Path(module_file).with_suffix(".sql")
    parts = _NAME.split(path.read_text(encoding="utf-8"))
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
