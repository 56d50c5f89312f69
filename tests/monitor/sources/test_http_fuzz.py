"""Whatever comes in, the answer is one of the documented ones, never a 500."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.sources.cloudevents import BATCH, STRUCTURED
from tests import entrance
from tests.entrance import EVENTS, GITHUB, PLAIN, TOKEN, configured, github_headers, post

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENTED = {200, 202, 207, 400, 413, 415, 422}
FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
TEXT = st.text(max_size=20)
HEADER = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
EVENT = st.fixed_dictionaries(
    {},
    optional={
        name: SCALARS | st.just("1.0")
        for name in (
            "id",
            "source",
            "type",
            "specversion",
            "data_base64",
            "datacontenttype",
            "time",
        )
    }
    | {"data": VALUES},
)
SHOP = {**PLAIN, "session": "to.name", "sequence": "seq", "type": "kind"}
BODY = st.fixed_dictionaries({"id": SCALARS}, optional=dict.fromkeys(("to", "seq", "kind"), VALUES))


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()  # with NaN and lone surrogates, as a careless sender would


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@FUZZ
@given(st.one_of(st.binary(max_size=60), VALUES.map(_bytes), BODY.map(_bytes)))
def test_any_body_of_plain_json(body: bytes) -> None:
    with configured(shop=SHOP):
        assert post("shop", body).status in DOCUMENTED


@FUZZ
@given(
    st.one_of(EVENT.map(_bytes), st.lists(EVENT, max_size=3).map(_bytes)),
    st.sampled_from([STRUCTURED, BATCH]),
)
def test_any_structured_event(body: bytes, content_type: str) -> None:
    with configured(events=EVENTS):
        assert post("events", body, content_type=content_type).status in DOCUMENTED


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from(["ce-id", "ce-source", "ce-type", "ce-time", "traceparent"]), HEADER
    ),
    st.binary(max_size=20),
    st.sampled_from(["application/json", "text/plain", "", "x/\u00e9"]),
)
def test_any_binary_event(headers: dict[str, str], body: bytes, content_type: str) -> None:
    every = {**TOKEN, "ce-specversion": "1.0", "ce-type": "t", **headers}
    with configured(events=EVENTS):
        answer = post("events", body, headers=every, content_type=content_type)
        assert answer.status in DOCUMENTED


@FUZZ
@given(VALUES.map(_bytes), HEADER, HEADER)
def test_any_webhook_of_github(body: bytes, key: str, event: str) -> None:
    with configured(hooks=GITHUB):
        answer = post("hooks", body, headers=github_headers(body, key, event=event))
        assert answer.status in DOCUMENTED


@FUZZ
@given(HEADER)
def test_any_signature_that_is_not_right_is_401(signature: str) -> None:
    with configured(hooks=GITHUB):
        headers = {**github_headers(b"{}", "d"), "X-Hub-Signature-256": signature}
        assert post("hooks", b"{}", headers=headers).status == 401
    assert entrance.stored() == 0
