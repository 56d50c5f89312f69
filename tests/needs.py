"""Finds the system parts some tests need; says so, or fails in CI, when one is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

_MORE_PLACES = ("/usr/sbin", "/usr/local/sbin", "/usr/lib/rabbitmq/bin")


def program(*names: str) -> str:
    """The path of the first of these programs that is installed; without any, missing()."""
    for name in names:
        found = shutil.which(name) or next(
            (str(Path(place, name)) for place in _MORE_PLACES if Path(place, name).is_file()), None
        )
        if found:
            return found
    return missing(f"{names[0]} is not installed")


def missing(what: str) -> NoReturn:
    """Skip the test, or fail it where everything is required (COMBOIO_TEST_REQUIRE_ALL)."""
    if os.environ.get("COMBOIO_TEST_REQUIRE_ALL"):
        pytest.fail(f"{what}, but COMBOIO_TEST_REQUIRE_ALL is set", pytrace=False)
    pytest.skip(what)
