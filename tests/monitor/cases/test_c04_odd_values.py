"""C04: values that a database or a browser cannot hold are kept as bytes, or refused in words."""

from __future__ import annotations

import pytest

from tests import entrance
from tests.entrance import PLAIN, TOKEN, configured, post

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = {**PLAIN, "key": "header:X-Id"}
KEPT = [
    rb'{"s":"x\u0000y"}',
    rb'{"s":"\\u0000"}',
    b'{"v":1e400}',
    b'{"v":1e5000}',
    b"[" + b",".join([b"1e100000"] * 1000) + b"]",
    b'{"id":9007199254740993}',
    b'{"v":' + b"9" * 4300 + b"}",
]
REFUSED = [
    rb'{"s":"\ud800"}',
    b'{"v":NaN}',
    b'{"v":-Infinity}',
    b'{"v":' + b"9" * 4301 + b"}",
    b"\xef\xbb\xbf{}",
    '{"s":"x"}'.encode("utf-16"),
]


@pytest.mark.parametrize("body", KEPT, ids=range(len(KEPT)))
def test_c04_a_kept_value_keeps_each_byte_and_runs(body: bytes) -> None:
    with configured(shop=SHOP), entrance.effects("shop"):
        for status in (202, 200):
            assert post("shop", body, headers={**TOKEN, "X-Id": "k"}).status == status
        assert entrance.count_effects() == 1
    assert entrance.rows("SELECT payload FROM comboio_message") == [(body,)]


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_c04_what_has_no_one_meaning_is_refused_with_its_reason(body: bytes) -> None:
    with configured(shop=SHOP), entrance.effects("shop"):
        answer = post("shop", body, headers={**TOKEN, "X-Id": "k"})
    assert (answer.status, answer.body["reason"]) == (400, "malformed")
    assert len(answer.body["detail"]) > 20
    assert entrance.stored() == 0


def test_c04_neighbours_beyond_a_float_are_a_mismatch() -> None:
    with configured(shop=SHOP), entrance.effects("shop"):
        key = {**TOKEN, "X-Id": "k"}
        assert post("shop", b'{"id":9007199254740993}', headers=key).status == 202
        assert post("shop", b'{"id":9007199254740992}', headers=key).status == 422
