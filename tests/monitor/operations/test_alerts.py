"""Acknowledge: somebody looks at it; the cause decides when it is over."""

from __future__ import annotations

import pytest
from django.db import connection

from monitor.domain.errors import RefusedError
from monitor.domain.states import AlertKind
from monitor.operations import alerts as verbs
from monitor.store import alerts
from tests import factories
from tests.monitor.operations.scenes import version
from tests.people import ANNA, BERT
from tests.rows import rows

pytestmark = pytest.mark.django_db


def _raise(consumer: int, subject: str) -> None:
    with connection.cursor() as cursor:
        alerts.raise_many(
            cursor,
            [
                alerts.Alert(
                    kind=AlertKind.MISMATCH, consumer=consumer, subject=subject, title="t", target=1
                )
            ],
        )


def test_an_acknowledged_alert_stays_so_while_its_count_goes_on() -> None:
    owner = factories.consumer()
    number = factories.alert(owner, kind="mismatch", subject="7")
    verbs.acknowledge(ANNA, number, seen=version("comboio_alert", number))
    _raise(owner, "7")
    assert rows("SELECT state, acknowledged_by, count FROM comboio_alert") == [
        ("acknowledged", "anna", 2)
    ]


def test_one_that_is_raised_all_the_time_can_be_acknowledged() -> None:
    owner = factories.consumer()
    number = factories.alert(owner, kind="mismatch", subject="7")
    seen = version("comboio_alert", number)
    for _ in range(3):
        _raise(owner, "7")
    assert verbs.acknowledge(ANNA, number, seen=seen).count == 1


def test_a_resolved_one_is_refused_with_its_reason() -> None:
    number = factories.alert(factories.consumer(), state="resolved")
    with pytest.raises(RefusedError, match="resolved: its cause is gone"):
        verbs.acknowledge(BERT, number, seen=version("comboio_alert", number))


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(RefusedError, match="no alert 4711"):
        verbs.acknowledge(BERT, 4711, seen=1)
