"""Requeues of many messages, each tracked to its outcome."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0005_bulk.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds tables; harmless before the code is deployed."""

    dependencies = [("monitor", "0004_order")]
    operations = [migrations.RunSQL(SCHEMA)]
