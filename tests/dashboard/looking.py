"""What tests look at: every page's address, the seen version on a page, the state of all tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from django.test import Client
from django.urls import URLPattern, reverse

from dashboard import urls
from tests.dashboard.scene import Scene
from tests.rows import one, rows

PIECE = {"HX-Request": "true", "HX-Target": "div#live"}
SCRIPTED = {"HX-Request": "true", "HX-Target": "div#toasts"}
ROUTES = {
    "alerts": "SELECT min(id) FROM comboio_alert",
    "consumers": "SELECT min(id) FROM comboio_consumer WHERE id > 0",
    "mismatches": "SELECT min(id) FROM comboio_mismatch",
    "sessions": "SELECT min(session) FROM comboio_gate",
    "reconcile": "SELECT min(id) FROM comboio_effect",
    "triage": "SELECT min(id) FROM comboio_alert WHERE kind = 'dead letter'",
    "requeues": "SELECT min(id) FROM comboio_bulk",
}


def patterns() -> list[URLPattern]:
    """Every address of the console."""
    return [each for each in urls.urlpatterns if isinstance(each, URLPattern)]


def is_verb(pattern: URLPattern) -> bool:
    """Whether an address uses a verb."""
    modules = ("actions", "triage_actions", "exports", "revealing")
    return str(pattern.callback.__module__) in [f"dashboard.{each}" for each in modules]


def address(pattern: URLPattern, scene: Scene | None = None) -> str:
    """The address with an id of its kind that exists (any id without a scene)."""
    arguments = {}
    if "<" in str(pattern.pattern):
        noun = str(pattern.name).partition("_")[0]
        statement = ROUTES.get(noun)
        exists = scene is not None and statement is not None
        arguments["id"] = one(str(statement)) if exists else (scene.dead if scene else 1)
    return reverse(f"dashboard:{pattern.name}", kwargs=arguments)


def seen(client: Client, page: str, verb_url: str) -> str:
    """The version that the form of a verb on a page names."""
    html = client.get(page).content.decode()
    found = re.search(
        rf'action="{re.escape(verb_url)}".*?name="seen" value="(\d+)"', html, re.DOTALL
    )
    assert found, f"{page} has no form for {verb_url}"
    return found[1]


class Markup(HTMLParser):
    """A page as a browser reads it: its texts, and what in it would be inline code."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note attributes that are code or style."""
        names = dict(attrs)
        is_data = names.get("type") == "application/json"  # a browser never runs it
        if tag == "style" or (tag == "script" and not names.get("src") and not is_data):
            self.inline.append(f"<{tag}>")
        for name, value in attrs:
            is_code = name == "style" or name.startswith("on") or name.startswith("hx-on")
            if is_code or (value or "").strip().lower().startswith(("javascript:", "js:")):
                self.inline.append(f"<{tag} {name}={value}>")

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)

    @property
    def text(self) -> str:
        """Everything that is shown as text."""
        return " ".join(self.texts)


def everything() -> dict[str, str]:
    """A checksum of each table of the inbox."""
    names = rows(
        "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND starts_with(relname::text, 'comboio_')"
    )
    return {
        name: one(
            f"SELECT coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM {name} t"
        )
        for (name,) in names
    }


def state(message_id: int) -> str:
    """Where a message is."""
    return str(one("SELECT state FROM comboio_message_state WHERE id = %(id)s", id=message_id))
