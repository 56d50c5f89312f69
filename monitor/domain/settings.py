"""The settings of Comboio: read from plain values, checked as a whole, frozen."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from monitor.domain import payload
from monitor.domain.callback import Callback
from monitor.domain.errors import ConfigurationError
from monitor.domain.payload import PayloadError
from monitor.domain.redaction import Redaction, Rules
from monitor.domain.source import DAY_SECONDS, AmqpSource, Auth, HttpSource, Secret, Source

__all__ = ["AmqpSource", "Auth", "HttpSource", "Retention", "Secret", "Settings", "Source", "read"]

Value = TypeVar("Value")
_KINDS: dict[str, type[HttpSource | AmqpSource]] = {"http": HttpSource, "amqp": AmqpSource}
_NESTED: dict[str, type] = {"auth": Auth}
_LONGEST_DAYS = 36_500  # a moment so far back must still be one that PostgreSQL has
_LISTS: dict[str, type] = {"secrets": Secret}
_RULED = ("sources", "consumers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long each kind of record is kept, in days. Dead letters stay until they are handled."""

    dedup_days: float = 14.0  # as long as a duplicate is recognised
    payload_days: float = 7.0  # body and history of what is done
    audit_days: float = 400.0

    def __post_init__(self) -> None:
        for name in ("dedup_days", "payload_days", "audit_days"):
            if not 0 < getattr(self, name) <= _LONGEST_DAYS:
                raise ConfigurationError(
                    f"{name} = {getattr(self, name)}: it must be above 0 and at most "
                    f"{_LONGEST_DAYS}."
                )
        if self.payload_days > self.dedup_days:
            raise ConfigurationError(
                f"payload_days = {self.payload_days} is above dedup_days = {self.dedup_days}: "
                "a message that can still be requeued must still be recognised."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that a deployer configures about messages."""

    sources: Mapping[str, HttpSource | AmqpSource] = field(default_factory=dict)
    retention: Retention = field(default_factory=Retention)
    effects: Mapping[str, Callback] = field(default_factory=dict)
    redaction: Redaction = field(default_factory=Redaction)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))
        object.__setattr__(self, "effects", MappingProxyType(dict(self.effects)))
        for source in self.sources.values():
            _check_coverage(source, self.retention)
        for name in self.redaction.sources:
            _known("redaction.sources", {name: None}, set(self.sources))

    def http(self, name: str) -> HttpSource | None:
        """The HTTP source of that name, or None."""
        source = self.sources.get(name)
        return source if isinstance(source, HttpSource) else None

    def amqp(self, name: str) -> AmqpSource | None:
        """The AMQP source of that name, or None."""
        source = self.sources.get(name)
        return source if isinstance(source, AmqpSource) else None


def read(values: Mapping[str, Any]) -> Settings:
    """Settings from a parsed comboio.toml, or from the same shape as Python values.

    Raises ConfigurationError that names the path of what is wrong, and the nearest known name of
    what is unknown.
    """
    _known("", values, {"sources", "retention", "effects", "redaction"})
    callbacks = _table("effects", values.get("effects", {}))
    tables = _table("sources", values.get("sources", {}))
    return Settings(
        sources={name: _source(f"sources.{name}", name, table) for name, table in tables.items()},
        retention=_build("retention", Retention, values.get("retention", {})),
        effects={
            name: _callback(f"effects.{name}", name, each) for name, each in callbacks.items()
        },
        redaction=_redaction(_table("redaction", values.get("redaction", {}))),
    )


def _check_coverage(source: Source, retention: Retention) -> None:
    kept = retention.dedup_days * DAY_SECONDS
    if isinstance(source, HttpSource) and kept < source.tolerance_seconds:
        raise ConfigurationError(
            f"sources.{source.name}: tolerance_seconds = {source.tolerance_seconds} is longer than "
            f"retention.dedup_days = {retention.dedup_days:g}: a captured request could run again."
        )
    if kept < source.redelivery_window_seconds:
        raise ConfigurationError(
            f"sources.{source.name}: its sender may repeat a message for "
            f"{source.redelivery_window_seconds} s (max_deliveries * redelivery_seconds + "
            f"message_ttl_seconds), but retention.dedup_days = {retention.dedup_days:g} remembers "
            f"it for {kept:.0f} s. Raise dedup_days or lower what the source declares."
        )


def _source(path: str, name: str, table: Any) -> HttpSource | AmqpSource:
    values = dict(_table(path, table))
    kind = values.pop("kind", None)
    if kind not in _KINDS:
        raise ConfigurationError(f"{path}.kind: one of these is needed: {', '.join(_KINDS)}.")
    if "name" in values:
        raise ConfigurationError(f"{path}.name: the name stands in the heading [{path}] already.")
    if kind == "http" and isinstance(values.get("key"), str):
        values["key"] = [values["key"]]
    return _build(path, _KINDS[kind], {"name": name, **values})


def _callback(path: str, name: str, table: Any) -> Callback:
    values = _table(path, table)
    if "name" in values:
        raise ConfigurationError(f"{path}.name: the name stands in the heading [{path}] already.")
    return _build(path, Callback, {"name": name, **values})


def _redaction(table: Mapping[str, Any]) -> Redaction:
    _known("redaction", table, {each.name for each in dataclasses.fields(Redaction)})
    own = {name: each for name, each in table.items() if name not in _RULED}
    # What stands beside the tables is checked by the same reader as any other setting.
    everywhere = {name: each for name, each in own.items() if name != "standard"}
    rules = _build("redaction", Rules, everywhere)
    if not isinstance(own.get("standard", True), bool):
        raise ConfigurationError("redaction.standard: true or false is needed.")
    ruled = {
        kind: {
            name: _build(f"redaction.{kind}.{name}", Rules, each)
            for name, each in _table(f"redaction.{kind}", table.get(kind, {})).items()
        }
        for kind in _RULED
    }
    return Redaction(
        standard=own.get("standard", True), names=rules.names, pointers=rules.pointers, **ruled
    )


def _build(path: str, kind: type[Value], table: Any) -> Value:
    values = dict(_table(path, table))
    names = {each.name for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    _known(path, values, names)
    for name, value in values.items():
        values[name] = _inner(f"{path}.{name}", name, value)
    try:
        return payload.read(kind, values)
    except PayloadError as error:
        where = str(error).removeprefix("payload")
        raise ConfigurationError(f"{path}{where}") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _inner(path: str, name: str, value: Any) -> Any:
    if name in _NESTED:
        _build(path, _NESTED[name], value)
        return _plain(value)
    if name in _LISTS and isinstance(value, list):
        for position, each in enumerate(value):
            _build(f"{path}[{position}]", _LISTS[name], each)
    return _plain(value)


def _plain(value: Any) -> Any:
    # TOML brings times as datetimes, Python settings may bring tuples; the reader takes JSON.
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _table(path: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{path}: a table is needed.")
    return value


def _known(path: str, values: Mapping[str, Any], names: set[str]) -> None:
    for name in values:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1)
            hint = f" Did you mean “{near[0]}”?" if near else f" Known: {', '.join(sorted(names))}."
            raise ConfigurationError(f"{path + '.' if path else ''}{name} is unknown.{hint}")
