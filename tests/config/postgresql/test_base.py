"""A rollback to a savepoint costs no prepared statement, and is one in every other way."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.db.utils import InternalError, OperationalError, ProgrammingError

from monitor.store.connections import shared_cursor
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)


def _prepared() -> int:
    return int(one("SELECT count(*) FROM pg_prepared_statements"))


def _prepare_something() -> None:
    cursor = shared_cursor()
    for n in range(5):
        cursor.execute("SELECT %s::integer + 1", [n])


def _fail_inside_a_savepoint() -> None:
    with suppress(ValueError), transaction.atomic():
        Group.objects.create(name="gone")
        raise ValueError("planned")


def _names() -> set[str]:
    return set(Group.objects.filter(name__in=["kept", "gone"]).values_list("name", flat=True))


def test_prepared_statements_outlive_a_rollback_to_a_savepoint() -> None:
    with transaction.atomic():
        _prepare_something()
        before = _prepared()
        _fail_inside_a_savepoint()
        _prepare_something()
        assert before > 0
        assert _prepared() == before


def test_what_the_savepoint_held_is_gone_and_what_stood_before_it_stays() -> None:
    with transaction.atomic():
        Group.objects.create(name="kept")
        _fail_inside_a_savepoint()
    assert _names() == {"kept"}


def test_a_transaction_that_an_error_ended_goes_on_after_the_rollback() -> None:
    with transaction.atomic():
        with pytest.raises(ProgrammingError), transaction.atomic():
            one("SELECT nothing")
        Group.objects.create(name="kept")
    assert _names() == {"kept"}


def test_a_savepoint_that_never_was_is_an_error_of_django() -> None:
    with pytest.raises(InternalError), transaction.atomic():
        connection.savepoint_rollback("never")


def test_a_connection_that_is_gone_is_an_error_of_django() -> None:
    with suppress(OperationalError), transaction.atomic():
        point = connection.savepoint()
        raw: Any = connection.connection
        raw.pgconn.finish()
        with pytest.raises(OperationalError):
            connection.savepoint_rollback(point)
