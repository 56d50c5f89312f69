"""One message sent by many at the same moment is new once."""

from __future__ import annotations

from collections import Counter

import pytest

from tests import entrance
from tests.entrance import PLAIN, configured, post
from tests.racing import race

pytestmark = pytest.mark.django_db(transaction=True)

SENDERS = 12


def test_many_senders_at_once_get_one_202_and_the_rest_200() -> None:
    def send() -> int:
        return post("shop", b'{"id":"evt_1"}').status

    with configured(shop=PLAIN), entrance.effects("shop"):
        assert Counter(race(*[send] * SENDERS)) == {202: 1, 200: SENDERS - 1}
        assert entrance.count_effects() == 1
    assert entrance.stored() == 1
