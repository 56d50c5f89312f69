"""`./manage.py lint`: every check of the code, one line each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from config.launch.bootstrap import ROOT

_PACKAGES = ("monitor", "dashboard", "config", "proof")
# What the strict content policy would block in the browser, found before it gets there.
_FORBIDDEN = {
    "inline style": re.compile(r"<style\b|\sstyle\s*=", re.IGNORECASE),
    "inline script": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", re.IGNORECASE),
    "inline handler": re.compile(r"\son[a-z]+\s*=\s*[\"']|\shx-on\b", re.IGNORECASE),
    "evaluated attribute": re.compile(r"=\s*[\"']\s*(js|javascript):", re.IGNORECASE),
    "unescaped output": re.compile(r"\|\s*safe\b|\{%\s*autoescape\s+off"),
    "htmx 2 word": re.compile(r"hx-disabled-elt|htmx:[a-z]+[A-Z]"),
}
_UNESCAPED_PYTHON = re.compile(r"\bmark_safe\(")


def main(arguments: Sequence[str]) -> int:
    """Run all checks, or those named; 1 when one failed."""
    tools = _tools()
    chosen = [name for name in tools if not arguments or name in arguments]
    results = [_report(name, tools[name]) for name in chosen]
    return 0 if results and all(results) else 1


def _tools() -> dict[str, Callable[[], str]]:
    """Each check returns what is wrong, or nothing."""
    return {
        "ruff": lambda: _tool("ruff", "check", "--quiet", "--output-format", "concise", "."),
        "format": lambda: _tool("ruff", "format", "--check", "--quiet", "."),
        "mypy": lambda: _tool("mypy", *_PACKAGES),
        "imports": lambda: _tool("lint-imports", "--no-cache"),
        "templates": _djade,
        "policy": lambda: "\n".join(_violations()),
        "migrations": lambda: _django("makemigrations", "--check", "--dry-run"),
        "django": lambda: _django("check", "--fail-level", "ERROR"),
    }


def _report(name: str, check: Callable[[], str]) -> bool:
    begun = time.monotonic()
    wrong = check()
    verdict = "wrong" if wrong else "clean"
    print(f"{name:<12} {verdict} {time.monotonic() - begun:6.1f} s", flush=True)  # noqa: T201
    if wrong:
        print(wrong, flush=True)  # noqa: T201
    return not wrong


def _tool(name: str, *arguments: str) -> str:
    return _run([str(Path(sys.executable).parent / name), *arguments])


def _djade() -> str:
    templates = [str(path.relative_to(ROOT)) for path in _templates()]
    return _tool("djade", "--check", "--target-version", "5.2", *templates) if templates else ""


def _django(*arguments: str) -> str:
    # No database is asked: the settings of the tests name one that need not be there.
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    return _run([sys.executable, "-W", "ignore", "-m", "django", *arguments])


def _run(command: list[str]) -> str:
    done = subprocess.run(  # noqa: S603
        command, cwd=ROOT, check=False, text=True, capture_output=True
    )
    return (done.stdout + done.stderr).strip() if done.returncode else ""


def _violations() -> Iterator[str]:
    for path in _templates():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for what, pattern in _FORBIDDEN.items():
                if pattern.search(line):
                    yield f"{path.relative_to(ROOT)}:{number}: {what}"
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name != "lint.py" and _UNESCAPED_PYTHON.search(path.read_text("utf-8")):
                yield f"{path.relative_to(ROOT)}: mark_safe"


def _templates() -> list[Path]:
    return sorted((ROOT / "templates").rglob("*.html"))
