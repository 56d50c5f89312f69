"""Groups of alerts by cause, and what people say of each: owner, note, snooze."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0006_triage.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds; harmless before the code is deployed."""

    dependencies = [("monitor", "0005_bulk")]
    operations = [migrations.RunSQL(SCHEMA)]
