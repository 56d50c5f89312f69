"""Rules of the templates, scripts and stylesheets that no browser run can prove for every path."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "dashboard").glob("*.js"))
SHEETS = sorted((ROOT / "static" / "dashboard").glob("*.css"))
PYTHON = sorted((ROOT / "dashboard").rglob("*.py"))
FORBIDDEN = {
    "inline style": r"\sstyle\s*=",
    "inline handler": r"\son[a-z]+\s*=",
    "hx-on (needs eval)": r"\shx-on",
    "trigger filter (needs eval)": r'hx-trigger="[^"]*\[',
    "js: value (needs eval)": r"js:",
    "unescaped value": r"\|\s*safe|autoescape off|safeseq",
    "htmx 2 attribute": r"hx-disabled-elt|hx-ext=|hx-vars",
    "inline script": r"<script(?![^>]*\ssrc=)",
    "other origin": r"(?:src|href)=\"(?:https?:)?//",
}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_is_small_and_strict(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    for what, pattern in FORBIDDEN.items():
        assert not re.search(pattern, text), what
    posts = len(re.findall(r'<form[^>]*method="post"', text))
    assert posts <= len(re.findall(r"csrf_token|_verb_fields", text))
    assert len(re.findall(r"hx-post=", text)) <= posts


def test_our_own_scripts_stay_small_and_write_no_markup() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    assert sum(text.count("\n") for text in texts) < 400
    for text in texts:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", text
        )
        assert not re.search(r"htmx:[a-z]+[A-Z]", text), "an event name of htmx 2"
        assert not re.search(r"\.style\b|setAttribute\(.style", text)


def test_nothing_is_marked_safe() -> None:
    for path in PYTHON:
        assert "mark_safe" not in path.read_text(encoding="utf-8"), path


def test_colours_stand_in_the_tokens_only() -> None:
    for path in SHEETS:
        if path.name == "tokens.css":
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", text), path
        assert "!important" not in text or path.name in (
            "base.css",
            "data.css",
            "frame.css",
            "components.css",
        )


def test_every_icon_that_is_named_is_in_the_sprite() -> None:
    sprite = (ROOT / "static" / "dashboard" / "icons.svg").read_text(encoding="utf-8")
    known = set(re.findall(r'<symbol id="([^"]+)"', sprite))
    named = {
        name
        for path in TEMPLATES
        for name in re.findall(
            r'{% icon "([^"]+)" %}|icon="([^"]+)"|symbol="([^"]+)"', path.read_text("utf-8")
        )
        for name in name
        if name
    }
    assert named <= known
