"""Backoff: never too long, never none, never an overflow."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.domain.errors import ConfigurationError
from monitor.domain.retry import Retry, delay_seconds


@given(st.integers(-5, 5000), st.floats(0.001, 10), st.integers(0, 2**32))
def test_a_delay_is_above_zero_and_at_most_the_cap(attempt: int, base: float, seed: int) -> None:
    retry = Retry(base_seconds=base, cap_seconds=1800)
    assert 0 < delay_seconds(retry, attempt, Random(seed)) <= 1800


@pytest.mark.parametrize("policy", [{"limit": 0}, {"base_seconds": 0}, {"cap_seconds": 0.5}])
def test_a_senseless_policy_is_refused_in_words(policy: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match=r"needed|needs"):
        Retry(**policy)  # type: ignore[arg-type]
