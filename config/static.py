"""Where static files come from, and which of them are worth serving."""

from __future__ import annotations

from pathlib import Path

from django.contrib.staticfiles.apps import StaticFilesConfig

_VENDOR = {"vendor/htmx": "htmx.org/dist", "vendor/uplot": "uplot/dist"}


class StaticFiles(StaticFilesConfig):
    """Django's static files without what the vendors' packages carry besides."""

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        *("*.map", "*.d.ts", "*.md", "*.cjs.js", "*.esm*.js"),
        *("ext", "editors", "skills", "scripts"),
    ]


def folders(base: Path) -> list[Path | tuple[str, Path]]:
    """Our own folder and those of the pinned npm packages, as far as they are there."""
    own = base / "static"
    found: list[Path | tuple[str, Path]] = [own] if own.is_dir() else []
    for prefix, package in _VENDOR.items():
        folder = base / "node_modules" / package
        if folder.is_dir():
            found.append((prefix, folder))
    return found
