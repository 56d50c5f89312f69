"""What a handler says about a failure is written down without what is redacted of its message."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.domain.errors import DeadLetter, DownstreamAway, RetryLater, Skip
from monitor.domain.message import Message
from tests.engine import consuming, delivery, drain_all, send
from tests.rows import rows

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "s3cr3t-0123456789"  # noqa: S105 - of these tests
ERRORS = (DeadLetter, RetryLater, DownstreamAway, Skip, ValueError, KeyError)


def _tables() -> str:
    """Everything that is written down but payloads."""
    names = rows(
        "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND starts_with(relname::text, 'comboio_') AND relname <> 'comboio_message'"
    )
    return "\n".join(
        str(row[0]) for (name,) in names for row in rows(f"SELECT t::text FROM {name} t")
    )


@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_a_secret_in_an_error_is_in_no_table_and_no_log(
    error: Any, external: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def handle(payload: Any, _message: Message) -> None:
        text = f"cannot log {payload['user']} in with {payload['password']!r}"
        raise error(1.0, text) if error is RetryLater else error(text)

    body = {"user": "ada", "password": SECRET}
    with consuming(handle, when_dead="hold", external=external):
        send(delivery("k1", body, session="s"))
        drain_all()
    told = _tables()
    assert SECRET not in told
    assert SECRET not in " ".join(str(each.msg) for each in caplog.records)
    if error is not Skip:
        assert "cannot log ada in with '[redacted]'" in told.replace("''", "'")
