"""A project that installs Comboio uses the fixture with one line, beside its own settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).parents[3]

FILES = {
    "conftest.py": 'pytest_plugins = ["monitor.testing"]\n',
    "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = host_settings\nfilterwarnings = error\n",
    "host_settings.py": """
import os

SECRET_KEY = "of-the-host"
INSTALLED_APPS = ["monitor", "django.contrib.auth", "django.contrib.contenttypes", "shop"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["HOST_SOCKETS"],
        "USER": os.environ["HOST_USER"],
        "NAME": "host",
    }
}
USE_TZ = True
COMBOIO = {"sources": {"orders": {"kind": "http", "key": "number", "format": "json",
                                  "type": "type", "unsigned": True}}}
""",
    "shop/__init__.py": "",
    "shop/consumers.py": """
from django.contrib.auth.models import Group

from monitor import Effect, Message, consumer


def ship(call):
    raise AssertionError("not in a test")


@consumer("shop.apply", source="orders", types=("order",))
def apply(order: dict, message: Message):
    Group.objects.create(name=message.key)


@consumer("shop.ship", source="orders", types=("parcel",), external=True,
          effects=(Effect(name="ship", call=ship),))
def send(parcel: dict, message: Message):
    return message.effect("ship", parcel)
""",
    "test_shop.py": """
from django.contrib.auth.models import Group


def test_an_order_takes_effect_once(inbox):
    inbox.deliver("orders", {"number": "o1", "type": "order"}, times=3)
    inbox.crash_before_commit("o1")
    inbox.run()
    assert inbox.deaths == 1
    assert Group.objects.filter(name="o1").count() == 1


def test_a_parcel_is_shipped_once(inbox):
    assert inbox.messages() == []
    shipper = inbox.provider("ship")
    inbox.deliver("orders", {"number": "o1", "type": "parcel"})
    inbox.crash_after_effect("ship")
    inbox.settle()
    assert inbox.state("o1") == "done"
    assert len(shipper.ledger) == 1


def test_a_fault_that_does_not_happen_fails_its_test(inbox):
    inbox.crash_before_commit("nobody")
""",
}


@pytest.mark.django_db
def test_a_host_project_tests_its_handlers(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    settings = connection.settings_dict
    own = {"HOST_SOCKETS": str(settings["HOST"]), "HOST_USER": str(settings["USER"])}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "DJANGO_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
        cwd=tmp_path,
        env={**kept, **own, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    # The third one passes, and its end tells what never happened.
    assert "3 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "it never happened: crash before the commit of nobody (1 more)" in done.stdout
