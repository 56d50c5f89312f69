"""System checks say what is wrong and what to change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.checks import ERROR, WARNING, CheckMessage
from pytest_django import Settings

from monitor import checks
from monitor.domain.effect import Call, Effect
from monitor.domain.retry import Retry
from monitor.engine import registry
from monitor.store import safety
from tests.engine import consuming
from tests.rows import run


def _ignore(_payload: object, _message: object) -> None:
    return None


@pytest.fixture(autouse=True)
def _no_other_consumers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_consumers", {})


def _source(**more: Any) -> dict[str, Any]:
    return {"kind": "http", "format": "github", "unsigned": True, **more}


def _found(settings: Settings, **sources: Any) -> list[CheckMessage]:
    settings.COMBOIO = {"sources": sources}
    return checks.check_sources()


def test_a_consumer_and_its_source_are_fine(settings: Settings) -> None:
    with consuming(_ignore, source="shop"):
        assert _found(settings, shop=_source()) == []


def test_a_consumer_without_its_source_is_named_with_what_to_add(
    settings: Settings,
) -> None:
    with consuming(_ignore, name="shop.apply", source="shop"):
        (message, other) = _found(settings, store=_source())
    assert message.id == "comboio.W001"
    assert "shop.apply" in message.msg
    assert "[sources.shop]" in str(message.hint)
    assert "Configured: store" in str(message.hint)
    assert other.id == "comboio.W002"


def test_a_source_that_nobody_takes_is_named(settings: Settings) -> None:
    (message,) = _found(settings, shop=_source())
    assert message.id == "comboio.W002"
    assert "“shop”" in message.msg


def test_settings_that_cannot_be_read_are_an_error(settings: Settings) -> None:
    (message,) = _found(settings, shop=_source(formatt="x"))
    assert message.id == "comboio.E001"
    assert "formatt" in message.msg


def test_a_window_that_outlives_the_keys_is_an_error(settings: Settings) -> None:
    (message,) = _found(settings, shop=_source(message_ttl_seconds=30 * 24 * 3600))
    assert message.id == "comboio.E001"
    assert "dedup_days" in message.msg


def test_the_deployment_check_prints_each_window_beside_the_retention(
    settings: Settings,
) -> None:
    settings.COMBOIO = {"sources": {"shop": _source()}}
    (message,) = checks.check_retention()
    assert "10 deliveries * 3600 s + 259200 s" in message.msg
    assert "3.42 days; keys are kept for 14. Margin: 10.58 days." in message.msg


@pytest.mark.parametrize(("days", "ids"), [(4.4, ["comboio.W009"]), (4.5, [])])
def test_a_window_that_just_fits_is_warned_of_with_its_sum(
    settings: Settings, days: float, ids: list[str]
) -> None:
    kept = {"dedup_days": days, "payload_days": 1}
    settings.COMBOIO = {"sources": {"shop": _source()}, "retention": kept}
    found = checks.check_coverage()
    assert [each.id for each in found] == ids
    for each in found:
        assert "10 deliveries * 3600 s + 259200 s" in each.msg
        assert "keys are kept for 4.4" in each.msg


def test_a_queue_that_is_said_to_keep_nothing_is_doubted(settings: Settings) -> None:
    queue = {"kind": "amqp", "url_env": "URL", "queue": "q", "message_ttl_seconds": 0}
    settings.COMBOIO = {"sources": {"orders": queue}}
    (message,) = checks.check_coverage()
    assert message.id == "comboio.W010"
    assert "“orders”" in message.msg


def test_the_settings_as_they_come_leave_a_margin(settings: Settings) -> None:
    queue = {"kind": "amqp", "url_env": "URL", "queue": "q"}
    settings.COMBOIO = {"sources": {"shop": _source(), "orders": queue}}
    assert checks.check_coverage() == []


@pytest.mark.django_db
def test_a_database_that_can_forget_is_an_error_unless_the_environment_admits_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("SET LOCAL synchronous_commit = on")
    admitted = checks.check_database(databases=["default"])
    assert {each.level for each in admitted} == {WARNING}
    monkeypatch.delenv(safety.UNSAFE_VARIABLE)
    refused = checks.check_database(databases=["default"])
    assert {(each.level, each.id) for each in refused} == {(ERROR, "comboio.E002")}
    assert any("Set fsync = on" in each.msg for each in refused)


@pytest.mark.django_db
def test_a_database_that_commits_late_is_a_warning_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(safety.UNSAFE_VARIABLE)
    run("SET LOCAL synchronous_commit = off")
    found = checks.check_database(databases=["default"])
    (late,) = [each for each in found if each.id == "comboio.W008"]
    assert late.level == WARNING
    assert "Set synchronous_commit = on" in late.msg


def test_without_a_database_named_none_is_asked() -> None:
    assert checks.check_database() == []


def test_a_source_whose_secret_is_not_set_is_named_with_its_variable(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [{"env": "SHOP_NEW"}, {"env": "SHOP_OLD"}]
    auth = {"scheme": "standard-webhooks", "secrets": secrets}
    settings.COMBOIO = {"sources": {"shop": {"kind": "http", "format": "json", "auth": auth}}}
    (message,) = checks.check_entrances()
    assert message.id == "comboio.W003"
    assert "SHOP_NEW, SHOP_OLD" in message.msg
    assert "503" in message.msg
    monkeypatch.setenv("SHOP_NEW", "whsec_c2VjcmV0")
    monkeypatch.setenv("SHOP_OLD", "no base64!")
    (message,) = checks.check_entrances()
    assert "SHOP_OLD holds no usable secret; unused" in message.msg


def test_a_queue_without_its_address_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = {"kind": "amqp", "url_env": "SHOP_URL", "queue": "q"}
    settings.COMBOIO = {"sources": {"shop": queue}}
    (message,) = checks.check_entrances()
    assert message.id == "comboio.W004"
    monkeypatch.setenv("SHOP_URL", "amqp://x")
    assert checks.check_entrances() == []


def test_a_callback_is_named_when_its_secret_or_its_effect_is_missing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    auth = {"scheme": "bearer", "secrets": [{"env": "BANK_SECRET"}]}
    settings.COMBOIO = {"effects": {"charge": {"auth": auth}}}
    (message,) = checks.check_entrances()
    assert message.id == "comboio.W003"
    assert "Callback of the effect “charge”: BANK_SECRET holds no usable secret" in message.msg
    monkeypatch.setenv("BANK_SECRET", "b" * 32)
    assert checks.check_entrances() == []
    (message,) = checks.check_callbacks()
    assert (message.id, "“charge”" in message.msg) == ("comboio.W006", True)
    with consuming(_ignore, external=True, effects=(Effect(name="charge", call=_ignore),)):
        assert checks.check_callbacks() == []


def test_redaction_of_a_consumer_that_nobody_declares_is_told(settings: Settings) -> None:
    settings.COMBOIO = {"redaction": {"consumers": {"shop.apply": {"names": ["iban"]}}}}
    (message,) = checks.check_redaction()
    assert (message.id, "“shop.apply”" in message.msg) == ("comboio.W011", True)
    with consuming(_ignore, name="shop.apply"):
        assert checks.check_redaction() == []


def _effect(**more: Any) -> Effect:
    return Effect(name="charge", call=_never, **more)


def _never(_call: Call) -> None:
    raise AssertionError


def test_an_external_consumer_with_time_enough_is_fine() -> None:
    with consuming(_ignore, external=True, effects=(_effect(),)):
        assert checks.check_external() == []


def test_effects_that_a_handler_cannot_make_are_an_error() -> None:
    with consuming(_ignore, external=True, effects=(_effect(),)) as declared:
        registry.remove(declared.name)
        registry.add(replace(declared, wants_message=False))
        (message,) = checks.check_external()
    assert (message.id, message.level) == ("comboio.E003", ERROR)


def test_a_lease_that_is_hardly_renewed_is_named() -> None:
    with consuming(_ignore, external=True, lease_seconds=1.0):
        (message,) = checks.check_external()
    assert (message.id, message.level) == ("comboio.W005", WARNING)
    assert "lease of 1 s" in message.msg


def test_a_provider_that_forgets_before_the_last_attempt_is_named() -> None:
    retry = Retry(limit=4, base_seconds=100, cap_seconds=300)  # waits of up to 100, 200 and 300 s
    for seconds, expected in ((600, []), (599, ["comboio.W007"])):
        effects = (_effect(key_window_seconds=seconds),)
        with consuming(_ignore, external=True, effects=effects, retry=retry):
            assert [each.id for each in checks.check_external()] == expected
