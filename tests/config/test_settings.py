from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parents[2]
PRODUCTION = {
    "PATH": os.environ["PATH"],
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "a3f-9z_Q7w!2x" * 5,
    "DATABASE_URL": "postgresql://comboio@127.0.0.1/comboio",
    "ALLOWED_HOSTS": "inbox.example",
    "COMBOIO_SECRET_PAYMENTS": "p" * 32,
    "COMBOIO_SECRET_GITHUB": "g" * 32,
    "COMBOIO_SECRET_EVENTS": "e" * 32,
}


def django(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "django", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**PRODUCTION, **variables},
    )


def test_the_deployment_check_has_nothing_to_say_about_security() -> None:
    done = django("check", "--deploy", "--tag", "security", "--fail-level", "WARNING")

    assert done.returncode == 0, done.stderr


def test_a_misspelt_variable_stops_the_start_with_one_sentence() -> None:
    done = django("check", COMBOIO_HTTP="1")

    assert done.returncode != 0
    assert "COMBOIO_HTTP: did you mean COMBOIO_HTTPS" in done.stderr


def test_cookies_are_bound_to_the_host_over_https_and_work_without_it() -> None:
    show = (
        "from django.conf import settings; "
        "print(settings.SESSION_COOKIE_NAME, settings.SESSION_COOKIE_SECURE)"
    )

    def cookie(value: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", show],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env={**PRODUCTION, "COMBOIO_HTTPS": value},
        ).stdout.strip()

    assert cookie("1") == "__Host-session True"
    assert cookie("0") == "session False"


def test_the_content_policy_admits_nothing_inline() -> None:
    policy = str(settings.CONTENT_SECURITY_POLICY)

    assert "unsafe" not in policy
    assert settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["default-src"] == ["'none'"]
