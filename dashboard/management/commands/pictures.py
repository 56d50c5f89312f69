"""pictures DIR: every page of the console as a picture, and a failure for each fault."""

from __future__ import annotations

import contextlib
import threading
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application

from dashboard import camera

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class Command(BaseCommand):
    """Takes the pictures."""

    help = "Write every page, light, dark and 390 px wide, as PNG files; fail when one is broken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and which server."""
        parser.add_argument("folder", type=Path, help="where the PNG files go; made when missing")
        parser.add_argument("--url", help="a running server on this database; else its own")
        parser.add_argument("--user", help="whose eyes (default: the first administrator)")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Take the pictures; CommandError when a page has a fault."""
        program = camera.chromium()
        if program is None:
            raise CommandError("Chromium is not installed: apt-get install chromium")
        folder: Path = options["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        cookies, session = _signed_in(options["user"])
        count = 0
        faults: list[str] = []
        try:
            with _server(options["url"]) as url:
                for taken in camera.take(program, url, cookies, folder):
                    count += 1
                    faults.extend(taken.faults)
                    self.stdout.write(f"{taken.path.name}{'  ✗' if taken.faults else ''}")
        finally:
            session.delete()
        for fault in faults:
            self.stderr.write(self.style.ERROR(fault))
        if faults:
            raise CommandError(f"{len(faults)} faults on {count} pictures.")
        self.stdout.write(self.style.SUCCESS(f"{count} pictures in {folder}, no fault."))


def _signed_in(name: str | None) -> tuple[dict[str, str], SessionStore]:
    """The cookies of a new session of that person, or of the first administrator."""
    people = get_user_model()._default_manager
    found = people.filter(is_active=True)
    wanted = found.filter(username=name) if name else found.filter(is_superuser=True)
    user = wanted.order_by("pk").first()
    if user is None:
        raise CommandError("There is nobody to sign in as: ./manage.py login makes a first one.")
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = _BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return {settings.SESSION_COOKIE_NAME: str(session.session_key)}, session


@contextlib.contextmanager
def _server(url: str | None) -> Iterator[str]:
    """The address of the given server, or of one in this process as long as the block runs."""
    if url:
        yield url.rstrip("/")
        return
    _collect_static()
    server = ThreadedWSGIServer(("127.0.0.1", 0), _Quiet)
    server.daemon_threads = True
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _collect_static() -> None:
    """Fill the folder of static files when `up` has never done so."""
    storage: Any = staticfiles_storage
    if hasattr(storage, "load_manifest") and not storage.hashed_files:
        call_command("collectstatic", interactive=False, verbosity=0)
        storage.hashed_files, storage.manifest_hash = storage.load_manifest()


class _Quiet(WSGIRequestHandler):
    """A request handler that writes no line for each request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
        """Say nothing."""
