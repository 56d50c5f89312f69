"""C05: a message without a key never shares one with another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import entrance
from tests.entrance import PLAIN, configured, post

pytestmark = pytest.mark.django_db(transaction=True)

ABSENT: Any = object()
COMPOSITE = {**PLAIN, "key": ["tenant", "order"]}


def _body(value: Any, n: int) -> bytes:
    body = {"n": n} if value is ABSENT else {"id": value, "n": n}
    return json.dumps(body).encode()


@pytest.mark.parametrize("value", [ABSENT, None, ""], ids=["absent", "null", "empty"])
def test_c05_reject_answers_400_and_counts(value: Any) -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        statuses = [post("shop", _body(value, n)).status for n in (1, 2, 3) for _ in range(2)]
    assert statuses == [400] * 6
    assert entrance.stored() == 0
    assert entrance.refused() == {"shop:no_key": 6}


def test_c05_a_stated_zero_is_a_key() -> None:
    with configured(shop=PLAIN), entrance.effects("shop"):
        assert [post("shop", _body(0, 1)).status for _ in range(2)] == [202, 200]
    assert entrance.rows("SELECT key FROM comboio_message") == [("0",)]


@pytest.mark.parametrize("value", [ABSENT, None, ""], ids=["absent", "null", "empty"])
def test_c05_derive_makes_the_key_from_the_body(value: Any) -> None:
    with configured(shop={**PLAIN, "missing_key": "derive"}), entrance.effects("shop"):
        statuses = [post("shop", _body(value, n)).status for n in (1, 2, 3) for _ in range(2)]
        assert statuses == [202, 200] * 3
        assert entrance.count_effects() == 3
    keys = {row[0] for row in entrance.rows("SELECT key FROM comboio_message")}
    assert len(keys) == 3
    assert not keys & {"None", "null", ""}


@pytest.mark.parametrize("policy", ["reject", "derive"])
@pytest.mark.parametrize(
    "body",
    [b'{"tenant":"t","order":null}', b'{"tenant":"t"}', b'{"tenant":"","order":1}', b"{}"],
)
def test_c05_half_a_key_is_no_key_whatever_the_policy(policy: str, body: bytes) -> None:
    with configured(shop={**COMPOSITE, "missing_key": policy}), entrance.effects("shop"):
        answer = post("shop", body)
    assert (answer.status, answer.body["reason"]) == (400, "no_key")
    assert entrance.stored() == 0


def test_c05_the_parts_of_a_composite_key_never_run_together() -> None:
    bodies = [
        {"tenant": "a", "order": "b,c"},
        {"tenant": "a,b", "order": "c"},
        {"tenant": 'a","b', "order": "c"},
        {"tenant": "a", "order": 1},
    ]
    with configured(shop=COMPOSITE), entrance.effects("shop"):
        for body in bodies:
            assert post("shop", json.dumps(body).encode()).status == 202
            assert post("shop", json.dumps(body).encode()).status == 200
        assert entrance.count_effects() == len(bodies)
