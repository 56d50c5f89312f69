"""Deploys, what each worker does now, and types by the hour."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0007_charts.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds; harmless before the code is deployed."""

    dependencies = [("monitor", "0006_triage")]
    operations = [migrations.RunSQL(SCHEMA)]
