"""The first schema of the inbox: partitioned tables, sequences and a view, so plain SQL."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0001_schema.sql").read_text(encoding="utf-8")
DROP = """
DROP VIEW comboio_message_state;
DROP TABLE comboio_session_snapshot, comboio_consumer_snapshot, comboio_total, comboio_rollup,
    comboio_rollup_delta, comboio_worker, comboio_audit, comboio_alert, comboio_event,
    comboio_duplicate, comboio_mismatch, comboio_discarded, comboio_dead, comboio_done,
    comboio_gate, comboio_ready, comboio_lane, comboio_message, comboio_dedup, comboio_session,
    comboio_consumer;
DROP SEQUENCE comboio_message_id, comboio_version;
"""


class Migration(migrations.Migration):
    """Creates every comboio_ table; harmless before the code is deployed."""

    initial = True
    dependencies = []
    operations = [migrations.RunSQL(SCHEMA, DROP)]
