"""C49: a captured request, sent again with its id changed or taken away, has no second effect."""

from __future__ import annotations

import time

import pytest

from tests import entrance
from tests.entrance import GITHUB, WEBHOOKS, configured, github_headers, post, webhook_headers

pytestmark = pytest.mark.django_db(transaction=True)

BODY = b'{"n":1}'
SIGNED_ID = {"kind": "http", "format": "json", "auth": WEBHOOKS}
GUARDED = {**GITHUB, "replay_guard": True}


def test_c49_a_signed_id_cannot_be_changed_or_dropped() -> None:
    captured = webhook_headers(BODY, "msg_1", timestamp=int(time.time()))
    with configured(shop=SIGNED_ID), entrance.effects("shop"):
        assert post("shop", BODY, headers=captured).status == 202
        upper = {name.upper(): value for name, value in captured.items()}
        assert post("shop", BODY, headers=upper).status == 200
        assert post("shop", BODY, headers={**captured, "webhook-id": "msg_2"}).status == 401
        without = {name: value for name, value in captured.items() if name != "webhook-id"}
        assert post("shop", BODY, headers=without).status == 400
        assert entrance.count_effects() == 1


def test_c49_the_guard_knows_signed_bytes_under_any_unsigned_id() -> None:
    captured = github_headers(BODY, "d-1")
    with configured(hooks=GUARDED), entrance.effects("hooks"):
        assert post("hooks", BODY, headers=captured).status == 202
        for change in ({"X-GitHub-Delivery": "d-2"}, {"X-GitHub-Event": "push"}):
            assert post("hooks", BODY, headers={**captured, **change}).status == 200
        without = {n: value for n, value in captured.items() if n != "X-GitHub-Delivery"}
        assert post("hooks", BODY, headers=without).status == 200
        other = b'{"n":2}'
        assert post("hooks", other, headers=github_headers(other, "d-1")).status == 202
        assert entrance.count_effects() == 2
    kept = entrance.rows(
        "SELECT key LIKE 'signed:%%', headers->>'x-github-delivery' FROM comboio_message LIMIT 1"
    )
    assert kept == [(True, "d-1")]


@pytest.mark.parametrize(("policy", "statuses"), [("reject", [400, 400]), ("derive", [202, 200])])
def test_c49_a_missing_id_is_refused_or_derived_from_the_body(
    policy: str, statuses: list[int]
) -> None:
    headers = {n: v for n, v in github_headers(BODY, "").items() if n != "X-GitHub-Delivery"}
    with configured(hooks={**GITHUB, "missing_key": policy}), entrance.effects("hooks"):
        assert [post("hooks", BODY, headers=headers).status for _ in range(2)] == statuses


def test_c49_the_name_of_the_header_has_no_case() -> None:
    lower = {name.lower(): value for name, value in github_headers(BODY, "d-1").items()}
    with configured(hooks=GITHUB), entrance.effects("hooks"):
        assert post("hooks", BODY, headers=github_headers(BODY, "d-1")).status == 202
        assert post("hooks", BODY, headers=lower).status == 200
        assert entrance.count_effects() == 1


def test_c49_the_secret_of_another_source_does_not_verify() -> None:
    other = {**GITHUB, "auth": {"scheme": "github", "secrets": [{"env": "TEST_OLD_SECRET"}]}}
    with configured(hooks=GITHUB, other=other), entrance.effects("hooks", "other"):
        captured = github_headers(BODY, "d-1")
        assert post("hooks", BODY, headers=captured).status == 202
        assert post("other", BODY, headers=captured).status == 401
        assert entrance.count_effects() == 1


def test_c49_two_ids_in_one_header_have_no_meaning() -> None:
    with configured(hooks=GITHUB):
        headers = {**github_headers(BODY, "d-1"), "X-GitHub-Delivery": "d-1,d-2"}
        assert post("hooks", BODY, headers=headers).status == 400
