"""C47: a signed time is checked after the signature, with one limit for each side."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator

import pytest
import time_machine

from tests import entrance
from tests.entrance import PLAIN, SECRET, WEBHOOKS, configured, post, webhook_headers

pytestmark = pytest.mark.django_db(transaction=True)

BODY = b'{"n":1}'
SHOP = {"kind": "http", "format": "json", "auth": WEBHOOKS}
STRIPE = {
    **PLAIN,
    "auth": {
        "scheme": "hmac",
        "secrets": [{"env": "TEST_SECRET"}],
        "header": "Stripe-Signature",
        "timestamp_header": "Stripe-Signature",
        "prefix": "v1=",
    },
}


@pytest.fixture
def now() -> Iterator[int]:
    at = int(time.time())
    with time_machine.travel(at, tick=False):
        yield at


@pytest.mark.parametrize("age", [0, 299, 300, -299, -300])
def test_c47_inside_the_tolerance_is_accepted(now: int, age: int) -> None:
    with configured(shop=SHOP):
        headers = webhook_headers(BODY, "msg_1", timestamp=now - age)
        assert post("shop", BODY, headers=headers).status == 202
        assert post("shop", BODY, headers=headers).status == 200


@pytest.mark.parametrize("age", [301, 3 * 3600, -301, -(10**9)])
def test_c47_outside_is_stale(now: int, age: int) -> None:
    with configured(shop=SHOP):
        answer = post("shop", BODY, headers=webhook_headers(BODY, "m", timestamp=now - age))
    assert (answer.status, answer.body["reason"]) == (401, "stale")
    assert entrance.refused() == {"shop:stale": 1}
    assert entrance.stored() == 0


def test_c47_a_bad_signature_is_told_before_its_age(now: int) -> None:
    with configured(shop=SHOP):
        headers = webhook_headers(BODY, "m", timestamp=now - 3 * 3600, secret=b"wrong")
        answer = post("shop", BODY, headers=headers)
    assert (answer.status, answer.body["reason"]) == (401, "bad_signature")
    assert entrance.refused() == {"shop:bad_signature": 1}


def test_c47_the_tolerance_is_the_sources_own_and_the_future_has_another(now: int) -> None:
    with configured(shop={**SHOP, "tolerance_seconds": 86_400, "future_seconds": 10}):
        for nth, (age, status) in enumerate(
            [(3 * 3600, 202), (86_401, 401), (-10, 202), (-11, 401)]
        ):
            headers = webhook_headers(BODY, f"m{nth}", timestamp=now - age)
            assert post("shop", BODY, headers=headers).status == status


@pytest.mark.parametrize("timestamp", ["", "x", "1e9", "-1", "٣", "9" * 13])
def test_c47_an_odd_timestamp_never_passes(timestamp: str) -> None:
    with configured(shop=SHOP):
        headers = {**webhook_headers(BODY, "m", timestamp=0), "webhook-timestamp": timestamp}
        assert post("shop", BODY, headers=headers).status == 401


def test_c47_time_and_signature_in_one_header(now: int) -> None:
    body = b'{"id":"evt_1"}'

    def header(timestamp: int) -> dict[str, str]:
        signed = hmac.digest(SECRET.encode(), f"{timestamp}.".encode() + body, "sha256").hex()
        return {"Stripe-Signature": f"t={timestamp},v1=00,v1={signed},v0=11"}

    with configured(shop=STRIPE):
        assert post("shop", body, headers=header(now - 299)).status == 202
        assert post("shop", body, headers=header(now - 301)).body["reason"] == "stale"
        swapped = {
            "Stripe-Signature": header(now)["Stripe-Signature"].replace(str(now), str(now - 1))
        }
        assert post("shop", body, headers=swapped).body["reason"] == "bad_signature"
