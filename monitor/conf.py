"""The settings of Comboio for this process: from settings.COMBOIO, else from comboio.toml."""

from __future__ import annotations

import os
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from monitor.domain.errors import ConfigurationError
from monitor.domain.settings import Settings, read
from monitor.domain.version import VERSION

FILE = "comboio.toml"


@lru_cache(maxsize=1)
def get() -> Settings:
    """The checked settings, read once. Raises ConfigurationError that names what is wrong."""
    given = getattr(settings, "COMBOIO", None)
    if given is not None:
        return _checked(given, "settings.COMBOIO")
    path = _path()
    if not path.is_file():
        if os.environ.get("COMBOIO_CONFIG"):
            raise ConfigurationError(f"COMBOIO_CONFIG names {path}, which is no file.")
        return Settings()
    return _checked(_parsed(path), path.name)


def release() -> str:
    """What runs here, in the deployer's words (settings.COMBOIO_RELEASE); else our version."""
    return str(getattr(settings, "COMBOIO_RELEASE", "") or VERSION)


def reset() -> None:
    """Forget what was read; the next get() reads again."""
    get.cache_clear()


def _path() -> Path:
    named = os.environ.get("COMBOIO_CONFIG")
    return Path(named) if named else Path(getattr(settings, "BASE_DIR", ".")) / FILE


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path.name} is not TOML: {error}.") from error


def _checked(values: Any, where: str) -> Settings:
    try:
        return read(values)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error}") from error


def _on_setting_changed(*, setting: str, **_: object) -> None:
    if setting == "COMBOIO":
        reset()


# Only tests change settings while a process runs.
setting_changed.connect(_on_setting_changed)
