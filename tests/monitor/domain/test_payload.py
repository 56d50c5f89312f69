"""A handler gets its type or the message is refused by the path of what is wrong."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, make_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, Literal, NewType, Optional
from uuid import UUID

import pytest

from monitor.domain.errors import ConfigurationError
from monitor.domain.payload import PayloadError, read, reader

AccountId = NewType("AccountId", str)


class Currency(StrEnum):
    EUR = "EUR"
    USD = "USD"


class Level(IntEnum):
    LOW = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    sku: str
    price: Decimal
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError("count must be at least 1.")


@dataclass(frozen=True)
class Order:
    id: UUID
    account: AccountId
    at: datetime
    lines: list[Line]
    currency: Currency = Currency.EUR
    due: date | None = None
    note: Optional[str] = None  # noqa: UP045 - both spellings are read
    rate: float = 0.0
    paid: bool = False
    tags: dict[str, int] = field(default_factory=dict)
    pair: tuple[int, ...] = ()
    kind: Literal["a", 1] = "a"
    parent: Order | None = None
    pull_request: Any = field(default=None, metadata={"name": "pull-request"})
    either: int | list[str] = 0


GOOD: dict[str, Any] = {
    "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "account": "acc-1",
    "at": "2026-01-31T10:00:00Z",
    "lines": [{"sku": "A", "price": 10.5}, {"sku": "B", "price": "1.50", "count": 2.0}],
}


def test_a_nested_payload_becomes_its_types() -> None:
    order = read(
        Order,
        {
            **GOOD,
            "currency": "USD",
            "due": "2026-02-01",
            "rate": 1,
            "tags": {"x": 1},
            "pair": [1, 2],
            "kind": 1,
            "parent": {**GOOD, "note": None},
            "pull-request": {"n": 1},
            "either": ["a"],
            "unknown": [],
        },
    )
    assert order.lines == [
        Line(sku="A", price=Decimal("10.5")),
        Line(sku="B", price=Decimal("1.50"), count=2),
    ]
    assert order.at == datetime(2026, 1, 31, 10, tzinfo=UTC)
    assert (order.currency, order.due, order.rate) == (Currency.USD, date(2026, 2, 1), 1.0)
    assert (order.tags, order.pair, order.kind, order.either) == ({"x": 1}, (1, 2), 1, ["a"])
    assert order.parent is not None
    assert order.parent.parent is None
    assert order.pull_request == {"n": 1}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"id": "x"}, "payload.id: a UUID is needed."),
        ({"account": 5}, "payload.account: text is needed, not a number."),
        ({"at": "2026-01-31T10:00:00"}, "payload.at: a time with its offset is needed"),
        ({"at": "yesterday"}, "payload.at: a time in ISO 8601 is needed."),
        ({"due": "20260131"}, "payload.due: a date is needed"),
        ({"due": "2026-02-30"}, "payload.due: a date is needed"),
        ({"lines": {}}, "payload.lines: a list is needed, not an object."),
        ({"lines": [{"sku": "A"}]}, "payload.lines[0].price: it is missing."),
        ({"lines": [*GOOD["lines"], {"sku": "A", "price": True}]}, "payload.lines[2].price: a dec"),
        ({"lines": [{"sku": "A", "price": "1e5"}]}, "payload.lines[0].price: a decimal number"),
        ({"lines": [{"sku": "A", "price": 1, "count": 0}]}, "payload.lines[0]: count must be"),
        ({"lines": [{"sku": "A", "price": 1, "count": 1.5}]}, "not a fraction"),
        ({"lines": [{"sku": "A", "price": 1, "count": Decimal("1e100000")}]}, "at most 4300"),
        ({"currency": "GBP"}, "payload.currency: one of these is needed: EUR, USD."),
        ({"paid": 1}, "payload.paid: true or false is needed, not a number."),
        ({"rate": Decimal("1e400")}, "payload.rate: the number is beyond"),
        ({"rate": 10**400}, "payload.rate: the number is beyond"),
        ({"tags": {"x": None}}, "payload.tags.x: a whole number is needed, not null."),
        ({"kind": True}, "payload.kind: one of these is needed: a, 1."),
        ({"either": "x"}, "a whole number is needed, not text, or a list is needed, not text."),
        ({"parent": {**GOOD, "id": None}}, "payload.parent.id: text is needed, not null."),
        ({"pair": [1, "2"]}, "payload.pair[1]: a whole number is needed, not text."),
    ],
)
def test_a_wrong_value_is_named_by_its_path(change: dict[str, Any], text: str) -> None:
    with pytest.raises(PayloadError) as caught:
        read(Order, {**GOOD, **change})
    assert text in str(caught.value)


def test_the_error_never_holds_the_value() -> None:
    with pytest.raises(PayloadError) as caught:
        read(Order, {**GOOD, "id": "secret-canary"})
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_only_an_object_can_be_a_dataclass(value: object) -> None:
    with pytest.raises(PayloadError, match="payload: an object is needed"):
        read(Order, value)


def test_spellings_of_one_number_are_one_value() -> None:
    assert [read(int, v) for v in (1, 1.0, Decimal("10e-1"))] == [1, 1, 1]
    assert read(Decimal, 0.1) == Decimal("0.1")
    assert read(Level, 1) is Level.LOW


@pytest.mark.parametrize("kind", [set[int], dict[int, str], tuple[int, str], complex, "Order"])
def test_a_type_that_cannot_be_read_is_the_authors_error(kind: Any) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read as"):
        reader(kind)


def test_a_dataclass_with_such_a_field_is_refused_each_time() -> None:
    @dataclass
    class Odd:
        members: set[int]

    for _ in range(2):
        with pytest.raises(ConfigurationError):
            reader(Odd)


def test_a_reader_that_another_thread_is_making_is_not_used_before_it_is_whole() -> None:
    with ThreadPoolExecutor(1) as pool:
        read_meanwhile: list[Future[Any]] = []

        class Slow(dict[str, Any]):
            """Asked while the reader is being made."""

            def get(self, _name: str, default: Any = None) -> Any:
                if not read_meanwhile:
                    read_meanwhile.append(pool.submit(read, held, {"amount": 5}))
                    wait(read_meanwhile, 0.1)  # long enough for a reader without fields
                return default

        held = make_dataclass("Held", [("amount", int, field(default=0, metadata=Slow()))])
        assert read(held, {"amount": 5}) == held(amount=5)
        assert read_meanwhile[0].result(10) == held(amount=5)
