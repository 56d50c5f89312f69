"""Indexes for the lists of a large inbox."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0009_large_lists.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only indexes; harmless before the code is deployed."""

    dependencies = [("monitor", "0008_skew")]
    operations = [migrations.RunSQL(SCHEMA)]
