"""C01: odd and long keys are kept byte for byte, or refused by the name of the rule."""

from __future__ import annotations

import json
import secrets

import pytest

from tests import entrance
from tests.entrance import PLAIN, TOKEN, configured, post

pytestmark = pytest.mark.django_db(transaction=True)

HEADER_KEY = {**PLAIN, "key": "header:X-Id"}


def _send(key: str) -> int:
    return post("shop", json.dumps({"id": key, "n": 1}).encode()).status


def test_c01_odd_keys_are_accepted_once_and_then_known() -> None:
    keys = ["é" * 255, r"{guid}\12345", "../../etc/passwd", "é" * 256, secrets.token_hex(256)]
    with configured(shop=PLAIN), entrance.effects("shop"):
        assert [(_send(key), _send(key)) for key in keys] == [(202, 200)] * len(keys)
        assert entrance.count_effects() == len(keys)
        assert {row[0] for row in entrance.rows("SELECT key FROM comboio_message")} == set(keys)


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("a\x00b", "U+0000"),
        ("a\r\nX-Evil: 1", "U+000D"),
        ("", "missing or empty"),
        ("a" * 10_000, "10000 bytes; at most 512"),
        (secrets.token_hex(5000), "10000 bytes; at most 512"),
    ],
    ids=["nul", "line end", "empty", "long", "long at random"],
)
def test_c01_a_wrong_key_is_refused_each_time_by_its_rule(key: str, rule: str) -> None:
    body = json.dumps({"id": key, "n": 1}).encode()
    with configured(shop=PLAIN), entrance.effects("shop"):
        for _ in range(2):
            answer = post("shop", body)
            assert answer.status == 400
            assert rule in answer.body["detail"]
    assert entrance.stored() == 0


def test_c01_keys_that_differ_at_the_limit_are_two() -> None:
    stem = secrets.token_hex(256)[:-1]
    with configured(shop=PLAIN), entrance.effects("shop"):
        assert [_send(stem + last) for last in "01"] == [202, 202]
        assert entrance.count_effects() == 2


def test_c01_a_key_from_a_header_follows_the_same_rules() -> None:
    with configured(shop=HEADER_KEY), entrance.effects("shop"):
        for key, status in (("k 1", 202), ("k 1", 200), ("x" * 513, 400), ("", 400)):
            headers = {**TOKEN, "X-Id": key}
            assert post("shop", b'{"n":1}', headers=headers).status == status
