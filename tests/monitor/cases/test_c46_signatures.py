"""C46: signatures count over the raw bytes, and secrets can be changed without a gap."""

from __future__ import annotations

import base64
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests import entrance
from tests.entrance import GITHUB, SECRET, configured, github_headers, post

pytestmark = pytest.mark.django_db(transaction=True)

BODY = b'{ "a" : "caf\\u00e9 \xc3\xa9", "n":1.0 }\r\n'


def _source(**auth: Any) -> dict[str, Any]:
    return {
        "kind": "http",
        "format": "json",
        "key": "header:X-Id",
        "auth": {"scheme": "hmac", "secrets": [{"env": "TEST_SECRET"}], **auth},
    }


def _digest(body: bytes, secret: str = SECRET) -> bytes:
    return hmac.digest(secret.encode(), body, "sha256")


def _signature(value: str) -> dict[str, str]:
    return {**github_headers(BODY, "d-1"), "X-Hub-Signature-256": value}


def test_c46_exact_bytes_pass_and_are_kept() -> None:
    with configured(hooks=GITHUB), entrance.effects("hooks"):
        answer = post("hooks", BODY, headers=github_headers(BODY, "d-1"))
        assert (answer.status, entrance.count_effects()) == (202, 1)
    row = entrance.rows("SELECT payload, type, headers->>'comboio-secret' FROM comboio_message")
    assert row == [(BODY, "issues", "TEST_SECRET")]


@pytest.mark.parametrize(
    "changed", [BODY.replace(b" }", b"}"), BODY.replace(b"1.0", b"1"), BODY.rstrip(), BODY + b" "]
)
def test_c46_changed_bytes_are_refused_and_leave_no_row(changed: bytes) -> None:
    with configured(hooks=GITHUB), entrance.effects("hooks"):
        answer = post("hooks", changed, headers=github_headers(BODY, "d-1"))
    assert (answer.status, answer.body["reason"]) == (401, "bad_signature")
    assert entrance.stored() == 0


@pytest.mark.parametrize(
    "value",
    [
        "sha256=" + _digest(BODY).hex().upper(),
        "sha256=",
        "",
        "sha1=" + _digest(BODY).hex(),
        _digest(BODY).hex(),
        "sha256=é",
        "é",
        "sha256=" + _digest(BODY, "another").hex(),
        "sha256=" + _digest(BODY).hex()[:-1],
    ],
    ids=["upper", "empty", "none", "sha1", "bare", "accent", "only accent", "other", "short"],
)
def test_c46_anything_but_the_signature_is_401(value: str) -> None:
    with configured(hooks=GITHUB):
        assert post("hooks", BODY, headers=_signature(value)).status == 401
    assert entrance.stored() == 0


def test_c46_one_right_signature_of_several_is_enough() -> None:
    wrong, right = _digest(BODY, "old").hex(), _digest(BODY).hex()
    with configured(hooks=GITHUB):
        both = _signature(f"sha256={wrong},sha256={right}")
        assert post("hooks", BODY, headers=both).status == 202


@pytest.mark.parametrize(("end", "status"), [(None, 202), (60, 202), (-60, 401)])
def test_c46_an_old_secret_passes_only_until_its_end(end: int | None, status: int) -> None:
    old: dict[str, Any] = {"env": "TEST_OLD_SECRET"}
    if end is not None:
        old["until"] = datetime.now(UTC) + timedelta(seconds=end)
    auth = {"scheme": "github", "secrets": [{"env": "TEST_SECRET"}, old]}
    with configured(hooks={**GITHUB, "auth": auth}):
        for key, secret, expected in (("new", SECRET, 202), ("old", "the-secret-before", status)):
            headers = github_headers(BODY, key, secret=secret)
            assert post("hooks", BODY, headers=headers).status == expected
    kept = entrance.rows("SELECT headers->>'comboio-secret' FROM comboio_message WHERE key = 'old'")
    assert kept == ([("TEST_OLD_SECRET",)] if status == 202 else [])


def test_c46_the_secret_is_never_logged(capfd: pytest.CaptureFixture[str]) -> None:
    with configured(hooks=GITHUB):
        post("hooks", BODY, headers=github_headers(BODY, "d-1"))
        answer = post("hooks", BODY, headers=_signature("sha256=00"))
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err + str(answer.body)


@pytest.mark.parametrize("encoding", ["hex", "base64"])
def test_c46_a_named_header_with_its_prefix_and_encoding(encoding: str) -> None:
    source = _source(header="X-Sign", prefix="v1=", encoding=encoding)
    digest = _digest(BODY)
    text = digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()
    with configured(shop=source):
        for value, status in ((f"v1={text}", 202), (f"v0={text}", 401), (text, 401)):
            assert post("shop", BODY, headers={"X-Sign": value, "X-Id": "1"}).status == status


def test_c46_the_bytes_on_the_wire_are_signed_not_what_they_unpack_to() -> None:
    with configured(shop=_source()):
        headers = {"Content-Encoding": "gzip", "X-Id": "1", "X-Signature-256": _digest(BODY).hex()}
        assert post("shop", BODY, headers=headers).status == 400
        headers["X-Signature-256"] = _digest(b"other").hex()
        # An unknown sender's archive is never opened.
        assert post("shop", BODY, headers=headers).status == 401


def test_c46_a_key_is_looked_up_with_a_signature_over_the_key() -> None:
    with configured(hooks=GITHUB):
        post("hooks", BODY, headers=github_headers(BODY, "d-1"))
        found = entrance.get("hooks", "d-1", headers=github_headers(b"d-1", "-"))
        assert (found.status, found.body["consumers"][0]["state"]) == (200, "dead")
        assert entrance.get("hooks", "d-1", headers=github_headers(BODY, "-")).status == 401
