"""Django system checks: what is wrong with the set-up, and what to change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import DEFAULT_DB_ALIAS, connections

from monitor import conf
from monitor.check_windows import (  # those of windows are registered with the others
    TAG,
    check_coverage,  # noqa: F401
    check_retention,  # noqa: F401
)
from monitor.domain.consumer import Consumer
from monitor.domain.effect import Kind
from monitor.domain.errors import ConfigurationError
from monitor.domain.retry import longest_seconds
from monitor.domain.source import HttpSource
from monitor.engine import registry
from monitor.sources import signatures
from monitor.store import safety

SHORTEST_LEASE_SECONDS = 2.0
FORMS = {
    "standard-webhooks": "“whsec_” and 24 to 64 random bytes in base64",
    "bearer": "at least 32 random characters",
    "github": "at least 32 random characters",
    "hmac": "at least 32 random characters",
}


@register(TAG)
def check_sources(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Consumers and sources that do not meet, and settings that cannot be read."""
    try:
        sources = conf.get().sources
    except ConfigurationError as error:
        return [Error(str(error), hint="Correct the settings of Comboio.", id="comboio.E001")]
    consumers = registry.all_consumers()
    taken = {each.source for each in consumers}
    messages: list[CheckMessage] = [
        Warning(
            f"Consumer {each.name} takes from the source “{each.source}”, which is not configured: "
            "it will never receive anything.",
            hint=f"Add [sources.{each.source}] to comboio.toml, or change source= of the consumer. "
            f"Configured: {', '.join(sorted(sources)) or 'none'}.",
            id="comboio.W001",
        )
        for each in consumers
        if each.source not in sources
    ]
    messages += [
        Warning(
            f"No consumer takes from the source “{name}”: what comes in becomes dead (no handler).",
            hint=f"Declare a handler with @consumer(…, source={name!r}), or remove the source.",
            id="comboio.W002",
        )
        for name in sorted(set(sources) - taken)
    ]
    return messages


@register(TAG)
def check_entrances(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Sources and callbacks whose environment lacks a secret or an address: nothing can come in."""
    try:
        settings = conf.get()
    except ConfigurationError:
        return []  # told by check_sources
    messages = [
        message
        for source in settings.sources.values()
        for message in (
            _without_secret(f"Source “{source.name}”", source)
            if isinstance(source, HttpSource)
            else _without_address(source.name, source.url_env)
        )
    ]
    for callback in settings.effects.values():
        messages += _without_secret(f"Callback of the effect “{callback.name}”", callback)
    return messages


@register(TAG)
def check_callbacks(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Callbacks of effects that no consumer declares: no provider's word would find its effect."""
    try:
        callbacks = conf.get().effects
    except ConfigurationError:
        return []  # told by check_sources
    declared = {effect.name for each in registry.all_consumers() for effect in each.effects}
    return [
        Warning(
            f"No consumer declares the effect “{name}” of [effects.{name}].",
            hint=f"Declared: {', '.join(sorted(declared)) or 'none'}. Correct the heading.",
            id="comboio.W006",
        )
        for name in sorted(set(callbacks) - declared)
    ]


@register(TAG)
def check_redaction(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Rules of redaction for consumers that nobody declares: they would hide nothing."""
    try:
        ruled = conf.get().redaction.consumers
    except ConfigurationError:
        return []  # told by check_sources
    declared = {each.name for each in registry.all_consumers()}
    return [
        Warning(
            f"No consumer is called “{name}”: [redaction.consumers.{name!r}] hides nothing.",
            hint=f"Declared: {', '.join(sorted(declared)) or 'none'}. Correct the heading.",
            id="comboio.W011",
        )
        for name in sorted(set(ruled) - declared)
    ]


def _without_address(name: str, variable: str) -> list[CheckMessage]:
    if os.environ.get(variable):
        return []
    return [
        Warning(
            f"Source “{name}”: {variable} is not set, so its queue is not read.",
            hint="Set it in the environment: amqp://user:password@host/vhost.",
            id="comboio.W004",
        )
    ]


def _without_secret(named: str, entrance: signatures.Signed) -> list[CheckMessage]:
    auth, missing = entrance.auth, signatures.missing_secrets(entrance)
    if not missing or auth is None:
        return []
    refuses = "it answers 503 to everyone" if len(missing) == len(auth.secrets) else "unused"
    return [
        Warning(
            f"{named}: {', '.join(missing)} holds no usable secret; {refuses}.",
            hint=f"Set it in the environment: {FORMS[auth.scheme]}.",
            id="comboio.W003",
        )
    ]


@register(TAG)
def check_external(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Consumers with effects whose declaration cannot keep what it says."""
    return [
        message
        for each in registry.all_consumers()
        if each.external
        for message in (*_without_message(each), *_short_lease(each), *_short_windows(each))
    ]


def _without_message(consumer: Consumer) -> list[CheckMessage]:
    if consumer.wants_message or not consumer.effects:
        return []
    return [
        Error(
            f"Consumer {consumer.name} declares effects, but its handler takes no message: "
            "it cannot make them.",
            hint="Give the handler a second parameter, and call message.effect(name, request).",
            id="comboio.E003",
        )
    ]


def _short_lease(consumer: Consumer) -> list[CheckMessage]:
    if consumer.lease_seconds >= SHORTEST_LEASE_SECONDS:
        return []
    return [
        Warning(
            f"Consumer {consumer.name}: a lease of {consumer.lease_seconds:g} s may run out before "
            "it is renewed, when the database or the machine is slow for a moment.",
            hint=f"Choose lease_seconds of {SHORTEST_LEASE_SECONDS:g} or more.",
            id="comboio.W005",
        )
    ]


def _short_windows(consumer: Consumer) -> list[CheckMessage]:
    """Keyed providers that may have forgotten the key before the last attempt."""
    retry = consumer.retry
    longest = sum(longest_seconds(retry, attempt) for attempt in range(1, retry.limit))
    return [
        Warning(
            f"Consumer {consumer.name}: its attempts may be spread over {longest:g} s, but the "
            f"provider of “{each.name}” remembers a key for {each.key_window_seconds:g} s. An "
            "outcome that is still unknown then waits for a person.",
            hint="Lower the limit or the waits of retry=, or raise key_window_seconds if the "
            "provider remembers longer.",
            id="comboio.W007",
        )
        for each in consumer.effects
        if each.kind == Kind.KEYED and each.key_window_seconds < longest
    ]


@register(Tags.database)
def check_database(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **_: Any,
) -> list[CheckMessage]:
    """Whether the database keeps what it commits (manage.py check --database default)."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        found = safety.durability(cursor)
    kind = Warning if safety.is_unsafe_admitted() else Error
    hint = f"{safety.UNSAFE_VARIABLE}=1 admits it on a test server."
    return [
        *[kind(text, hint=hint, id="comboio.E002") for text in safety.faults(found)],
        *[Warning(text, id="comboio.W008") for text in safety.warnings(found)],
    ]
