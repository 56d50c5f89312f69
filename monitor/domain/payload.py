"""Builds the typed payload of a handler from JSON values, strictly."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from threading import RLock
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

from monitor.domain import scalars
from monitor.domain.errors import ComboioError, ConfigurationError
from monitor.domain.scalars import WrongValueError

Payload = TypeVar("Payload")
Reader = Callable[[Any], Any]

_SCALARS: dict[Any, Reader] = {
    str: scalars.text,
    bool: scalars.truth,
    int: scalars.integer,
    float: scalars.number,
    Decimal: scalars.decimal,
    datetime: scalars.moment,
    date: scalars.day,
    UUID: scalars.uuid,
    type(None): scalars.nothing,
    None: scalars.nothing,
    Any: lambda value: value,
    object: lambda value: value,
}
_readers: dict[Any, Reader] = {}
_unfinished: dict[Any, Reader] = {}  # a type may hold itself; seen by the holder of the lock only
_making = RLock()


class PayloadError(ComboioError):
    """A payload does not fit its type. Permanent: the same bytes will never fit.

    The text names the path and what is needed there; it never holds the value.
    """


def read(payload_type: type[Payload], value: Any) -> Payload:
    """The JSON value as payload_type: a dataclass, nested as deep as its annotations say.

    Members that the type does not name are ignored; missing ones need a default. A field whose
    member has another name says so: field(metadata={"name": "pull-request"}).
    Raises PayloadError for a value that does not fit, ConfigurationError for a type that cannot
    be read at all.
    """
    try:
        return cast(Payload, reader(payload_type)(value))
    except WrongValueError as error:
        path = "payload" + "".join(reversed(error.steps))
        raise PayloadError(f"{path}: {error.reason}.") from error


def reader(payload_type: Any) -> Reader:
    """The reader of a type, made once. Raises ConfigurationError for a type that cannot be read."""
    try:
        known = _readers.get(payload_type)
    except TypeError as error:
        raise _unknown(payload_type) from error
    return known or _made(payload_type)


def _made(payload_type: Any) -> Reader:
    """Make a reader and those it needs; other threads see them when all are whole."""
    with _making:
        known = _readers.get(payload_type) or _unfinished.get(payload_type)
        if known is not None:
            return known
        is_outermost = not _unfinished
        try:
            made = _unfinished[payload_type] = _make(payload_type)
            if is_outermost:
                _readers.update(_unfinished)
            return made
        finally:
            if is_outermost:
                _unfinished.clear()


def _make(kind: Any) -> Reader:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return scalars.choice(tuple(kind))
    if isinstance(kind, NewType):
        return reader(kind.__supertype__)
    return _generic(kind, get_origin(kind), get_args(kind))


def _generic(kind: Any, origin: Any, arguments: tuple[Any, ...]) -> Reader:
    if origin is Annotated:
        return reader(arguments[0])
    if origin is Literal:
        return scalars.choice(arguments)
    if origin in (Union, types.UnionType):
        return _union(tuple(map(reader, arguments)))
    if kind is list or origin in (list, Sequence):
        return _list(reader(arguments[0] if arguments else Any), list)
    if origin is tuple and arguments[1:] == (...,):
        return _list(reader(arguments[0]), tuple)
    if kind is dict or (origin in (dict, Mapping) and arguments[0] is str):
        return _object(reader(arguments[1] if arguments else Any))
    raise _unknown(kind)


def _unknown(kind: Any) -> ConfigurationError:
    return ConfigurationError(
        f"A payload cannot be read as {kind!r}. Use a dataclass of str, int, float, bool, Decimal, "
        "datetime, date, UUID, enums, Literal, list[…], dict[str, …], tuple[…, ...] and unions."
    )


def _list(item: Reader, build: Callable[[list[Any]], Any]) -> Reader:
    def read_list(value: Any) -> Any:
        if not isinstance(value, list):
            raise scalars.needed("a list", value)
        result: list[Any] = []
        try:
            for each in value:
                result.append(item(each))  # its length names the place that fails
        except WrongValueError as error:
            raise error.within(f"[{len(result)}]") from None
        return build(result)

    return read_list


def _object(member: Reader) -> Reader:
    def read_object(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise scalars.needed("an object", value)
        return {name: _at(f".{name}", member, each) for name, each in value.items()}

    return read_object


def _union(options: tuple[Reader, ...]) -> Reader:
    def read_union(value: Any) -> Any:
        errors: list[WrongValueError] = []
        for option in options:
            try:
                return option(value)
            except WrongValueError as error:
                errors.append(error)
        # The error that got deepest tells most: of "Payment | None" that of Payment.
        deepest = max(errors, key=lambda error: len(error.steps))
        if not deepest.steps:
            raise WrongValueError(", or ".join(error.reason for error in errors))
        raise deepest

    return read_union


def _dataclass(kind: type) -> Reader:
    fields: list[tuple[str, str, Reader, bool]] = []

    def read_dataclass(value: Any) -> Any:
        if not isinstance(value, dict):
            raise scalars.needed("an object", value)
        given: dict[str, Any] = {}
        for name, member, field_reader, needed in fields:
            if member in value:
                given[name] = _at(f".{member}", field_reader, value[member])
            elif needed:
                raise WrongValueError("it is missing").within(f".{member}")
        try:
            return kind(**given)
        except (ValueError, TypeError) as error:  # raised by a __post_init__ that checks
            raise WrongValueError(str(error).rstrip(".") or "it was refused by its type") from error

    _unfinished[kind] = read_dataclass  # before its fields: a type may hold itself
    fields.extend(_fields(kind))
    return read_dataclass


def _fields(kind: type) -> list[tuple[str, str, Reader, bool]]:
    hints = get_type_hints(kind, include_extras=True)
    missing = dataclasses.MISSING
    return [
        (
            each.name,
            each.metadata.get("name", each.name),
            reader(hints[each.name]),
            each.default is missing and each.default_factory is missing,
        )
        for each in dataclasses.fields(kind)
        if each.init
    ]


def _at(step: str, item: Reader, value: Any) -> Any:
    try:
        return item(value)
    except WrongValueError as error:
        raise error.within(step) from None
