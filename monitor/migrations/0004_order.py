"""Sequence numbers, delayed messages, absolute states, throttled consumers, corrections, clicks."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0004_order.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds columns without a table rewrite; harmless before the code is deployed."""

    dependencies = [("monitor", "0003_effects")]
    operations = [migrations.RunSQL(SCHEMA)]
