"""What the inbox's own statements run with: by index, and durable whatever the server's default."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from monitor.store import connections, planning
from tests.rows import one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("default", "used"), [("off", "on"), ("on", "on"), ("remote_apply", "remote_apply")]
)
def test_a_commit_waits_for_the_disk_whatever_the_default(default: str, used: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET synchronous_commit = {default}")
    try:
        with transaction.atomic():
            planning.by_index(connections.shared_cursor())
            planning.as_usual(connections.shared_cursor())
            assert one("SHOW synchronous_commit") == used
        assert one("SHOW synchronous_commit") == default
    finally:
        connection.close()


def test_handlers_plan_as_the_server_is_set_up() -> None:
    with transaction.atomic():
        planning.by_index(connections.shared_cursor())
        assert one("SHOW enable_seqscan") == "off"
        planning.as_usual(connections.shared_cursor())
        assert one("SHOW enable_seqscan") == "on"
