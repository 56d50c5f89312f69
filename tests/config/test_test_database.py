from __future__ import annotations

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        return str(cursor.fetchone()[0])


def test_the_tables_come_from_the_migrations() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM comboio_lane")
        assert cursor.fetchone()[0] == 256


@pytest.mark.django_db(transaction=True)
def test_a_committing_test_leaves_only_the_seeds_behind() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO comboio_consumer (id, name, source) VALUES (7, 'left', 'over')")
    test_no_rows_of_other_tests_are_seen()


def test_no_rows_of_other_tests_are_seen() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM comboio_consumer WHERE id > 0 AND name <> 'left'")
        assert cursor.fetchone()[0] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lock_timeout", "2s"),
        ("statement_timeout", "25s"),
        ("idle_in_transaction_session_timeout", "35s"),
        ("client_connection_check_interval", "1s"),
        ("application_name", "comboio-test"),
    ],
)
def test_every_connection_has_the_session_settings(name: str, value: str) -> None:
    assert setting(name) == value
