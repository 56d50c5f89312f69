"""How far the clock of each process is from the database's."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0008_skew.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds a column without a table rewrite; harmless before the code is deployed."""

    dependencies = [("monitor", "0007_charts")]
    operations = [migrations.RunSQL(SCHEMA)]
