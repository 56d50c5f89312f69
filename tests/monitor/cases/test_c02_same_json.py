"""C02: what is the same JSON, and what is not."""

from __future__ import annotations

import pytest

from tests import entrance
from tests.entrance import PLAIN, TOKEN, configured, post

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = {**PLAIN, "key": "header:X-Id"}
KEY = {**TOKEN, "X-Id": "K"}
BASE = '{"amount":10.5,"items":[{"sku":"A","n":1},{"sku":"B","n":2}],"note":"café","list":[]}'
SAME = [
    '{"list":[],"note":"café","items":[{"n":1,"sku":"A"},{"n":2,"sku":"B"}],"amount":10.5}',
    BASE.replace(",", " ,\r\n "),
    BASE.replace("é", r"\u00e9"),
    BASE.replace("10.5", "10.50"),
    BASE.replace("10.5", "1.05e1"),
]
DIFFERENT = [
    BASE.replace('{"sku":"A","n":1},{"sku":"B","n":2}', '{"sku":"B","n":2},{"sku":"A","n":1}'),
    BASE.replace("10.5", '"10.5"'),
    BASE.replace("}]", '}],"x":null'),
    BASE.replace("é", "e\u0301"),
    BASE.replace('"n":1', '"n":true'),
    BASE.replace("[]", "{}"),
]


def test_c02_spelling_makes_duplicates_and_content_makes_mismatches() -> None:
    with configured(shop=SHOP), entrance.effects("shop"):
        assert post("shop", BASE.encode(), headers=KEY).status == 202
        assert entrance.count_effects() == 1
        for body in SAME:
            assert post("shop", body.encode(), headers=KEY).status == 200, body
        assert entrance.mismatches() == 0
        for nth, body in enumerate(DIFFERENT, start=1):
            assert post("shop", body.encode(), headers=KEY).status == 422, body
            assert entrance.mismatches() == nth
        assert entrance.count_effects() == 1
    assert entrance.rows("SELECT payload FROM comboio_message") == [(BASE.encode(),)]
