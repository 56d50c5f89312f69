"""Settings are checked as a whole; what is wrong is named by its path, and what was meant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from monitor.domain.errors import ConfigurationError
from monitor.domain.settings import AmqpSource, HttpSource, read

BEARER = {"scheme": "bearer", "secrets": [{"env": "TOKEN"}]}
HTTP = {"kind": "http", "format": "json", "key": "id", "auth": BEARER}
AMQP = {"kind": "amqp", "url_env": "BROKER", "queue": "q"}
SIGNED = {"scheme": "github", "secrets": [{"env": "TOKEN"}]}


def _one(values: dict[str, Any], **more: Any) -> Any:
    return read({"sources": {"s": values}, **more}).sources["s"]


def test_defaults_are_those_of_the_documentation() -> None:
    source = _one(HTTP)
    assert isinstance(source, HttpSource)
    assert (source.body_limit_bytes, source.max_depth, source.tolerance_seconds) == (
        2**20,
        100,
        300,
    )
    assert (source.missing_key, source.unrouted, source.key) == ("reject", "dead", ("id",))
    queue = _one(AMQP)
    assert isinstance(queue, AmqpSource)
    assert (queue.batch_size, queue.batch_milliseconds, queue.hosted) == (200, 20, True)
    retention = read({}).retention
    assert (retention.dedup_days, retention.payload_days, retention.audit_days) == (14, 7, 400)


def test_redaction_is_read_for_all_for_a_source_and_for_a_consumer() -> None:
    rules = {
        "names": ["iban"],
        "sources": {"s": {"pointers": ["/card/holder"]}},
        "consumers": {"payments.apply": {"names": ["vat id"]}},
    }
    redaction = read({"sources": {"s": HTTP}, "redaction": rules}).redaction
    policy = redaction.policy("s", "payments.apply")
    assert {"iban", "vatid", "password"} <= policy.names
    assert policy.pointers == {("card", "holder")}
    assert "password" not in read({"redaction": {"standard": False}}).redaction.policy("", "").names


def test_two_secrets_may_live_at_once_and_the_old_one_ends() -> None:
    end = datetime(2026, 1, 31, tzinfo=UTC)
    auth = {"scheme": "hmac", "secrets": [{"env": "NEW"}, {"env": "OLD", "until": end}]}
    assert _one({**HTTP, "auth": auth}).auth.secrets[1].until == end


def test_sources_are_found_by_their_kind() -> None:
    settings = read({"sources": {"web": HTTP, "queue": AMQP}})
    assert settings.http("web") is settings.sources["web"]
    assert settings.amqp("queue") is settings.sources["queue"]
    assert [settings.http("queue"), settings.amqp("web"), settings.http("none")] == [None] * 3


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"source": {}}, "source is unknown. Did you mean “sources”?"),
        ({"sources": []}, "sources: a table is needed."),
        ({"sources": {"s": 1}}, "sources.s: a table is needed."),
        ({"sources": {"s": {}}}, "sources.s.kind: one of these is needed: http, amqp."),
        ({"sources": {"S s": HTTP}}, "sources.S s: the name 'S s'"),
        ({"sources": {"s": {**HTTP, "name": "t"}}}, "sources.s.name: the name stands in"),
        ({"retention": {"dedup_days": 0}}, "retention: dedup_days = 0.0"),
        ({"retention": {"dedup_days": float("nan")}}, "retention: dedup_days = nan"),
        ({"retention": {"dedup_days": float("inf")}}, "retention.dedup_days: the number is bey"),
        ({"retention": {"audit_days": 1e9}}, "audit_days = 1000000000.0"),
        ({"retention": {"payload_days": 15}}, "payload_days = 15.0 is above dedup_days"),
        ({"redaction": {"name": []}}, "redaction.name is unknown. Did you mean “names”?"),
        ({"redaction": {"names": "iban"}}, "redaction.names: a list is needed"),
        ({"redaction": {"names": ["n"]}}, "'n' has too few letters or digits"),
        ({"redaction": {"pointers": ["card/number"]}}, "'card/number' is no JSON pointer"),
        ({"redaction": {"standard": "no"}}, "redaction.standard: true or false is needed."),
        ({"redaction": {"sources": {"paymnts": {}}}}, "redaction.sources.paymnts is unknown."),
        ({"redaction": {"consumers": {"a": 1}}}, "redaction.consumers.a: a table is needed."),
        ({"retention": {"dedup_day": 1}}, "retention.dedup_day is unknown. Did you mean “dedup_d"),
    ],
)
def test_a_wrong_setting_is_named_by_its_path(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(values)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({**HTTP, "body_limit": 1}, "sources.s.body_limit is unknown. Did you mean “body_limit_b"),
        ({**HTTP, "format": "xml"}, "sources.s.format: one of these is needed: json, cloude"),
        ({**HTTP, "body_limit_bytes": "1"}, "sources.s.body_limit_bytes: a whole number"),
        ({**HTTP, "body_limit_bytes": 0}, "sources.s: body_limit_bytes = 0: it must be from 1"),
        ({**HTTP, "max_depth": 101}, "max_depth = 101"),
        ({**HTTP, "key": "a["}, "sources.s: key: 'a[' is no JMESPath expression"),
        ({**HTTP, "key": []}, "key is missing"),
        ({**HTTP, "key": "header:X-Death"}, "changes with each delivery"),
        ({**HTTP, "key": ["id", "receivedAt"]}, "changes with each delivery"),
        ({**HTTP, "session": "property:x"}, "this source has no property"),
        ({**HTTP, "auth": {}}, "sources.s.auth.scheme: it is missing."),
        ({**HTTP, "auth": {**BEARER, "secrets": []}}, "1 to 4 secrets"),
        (
            {**HTTP, "auth": {**BEARER, "secret": 1}},
            "auth.secret is unknown. Did you mean “secrets",
        ),
        ({**HTTP, "auth": {**BEARER, "secrets": [{"env": "a b"}]}}, "secrets[0]: env = 'a b'"),
        ({**HTTP, "auth": {**BEARER, "secrets": [{"name": "A"}]}}, "secrets[0].name is unknown"),
        ({"kind": "http", "format": "json", "key": "id"}, "sources.s: auth is missing."),
        ({**HTTP, "unsigned": True}, "exclude each other"),
        ({**HTTP, "replay_guard": True}, "needs a scheme that signs the body"),
        ({"kind": "http", "format": "github", "key": "id", "auth": SIGNED}, "key is fixed by"),
        ({**AMQP, "queue": ""}, "sources.s: queue is empty."),
        ({**AMQP, "url_env": "amqp://guest@host"}, "the name of an environment variable"),
        ({**AMQP, "prefetch": 100}, "prefetch = 100: it must be from 200"),
        ({**AMQP, "session": "attribute:x"}, "this source has no attribute"),
        ({**AMQP, "key": "property:delivery_tag"}, "changes with each delivery"),
    ],
)
def test_a_wrong_source_is_named_by_its_path(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        _one(values)
    assert text in str(caught.value)


def test_volatile_names_need_an_explicit_word() -> None:
    assert _one({**HTTP, "key": "receivedAt", "volatile_key": True}).key == ("receivedAt",)


def test_everyone_may_send_only_when_the_settings_say_so() -> None:
    assert _one({"kind": "http", "format": "json", "key": "id", "unsigned": True}).auth is None


def test_retention_must_cover_every_repetition() -> None:
    week = {"retention": {"dedup_days": 7, "payload_days": 7}}
    _one({**HTTP, "message_ttl_seconds": 5 * 86_400}, **week)
    with pytest.raises(ConfigurationError, match="may repeat a message for 640800 s"):
        _one({**HTTP, "message_ttl_seconds": 7 * 86_400}, **week)


def test_c47_retention_below_the_tolerance_is_refused() -> None:
    hour = {"retention": {"dedup_days": 1 / 24, "payload_days": 1 / 24}}
    day = {**HTTP, "tolerance_seconds": 86_400, "message_ttl_seconds": 0, "max_deliveries": 1}
    with pytest.raises(ConfigurationError, match="a captured request could run again"):
        _one(day, **hour)


def test_a_callback_is_signed_and_named_after_its_effect() -> None:
    callback = read({"effects": {"charge": {"auth": SIGNED}}}).effects["charge"]
    assert (callback.name, callback.auth.scheme) == ("charge", "github")
    assert (callback.tolerance_seconds, callback.body_limit_bytes) == (300, 65_536)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"effects": []}, "effects: a table is needed."),
        ({"effects": {"charge": {}}}, "effects.charge.auth: it is missing."),
        ({"effects": {"charge": {"auth": SIGNED, "unsigned": True}}}, "unsigned is unknown."),
        (
            {"effects": {"charge": {"auth": SIGNED, "name": "x"}}},
            "effects.charge.name: the name st",
        ),
        ({"effects": {"a/b": {"auth": SIGNED}}}, "the name 'a/b'"),
        ({"effects": {"charge": {"auth": SIGNED, "body_limit_bytes": 0}}}, "body_limit_bytes = 0"),
        ({"effect": {}}, "effect is unknown. Did you mean “effects”?"),
    ],
)
def test_a_wrong_callback_is_named_by_its_path(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(values)
    assert text in str(caught.value)
