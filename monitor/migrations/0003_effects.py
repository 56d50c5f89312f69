"""Effects outside the transaction: leases, effects, evidence and messages in doubt."""

from pathlib import Path

from django.db import migrations

SCHEMA = Path(__file__).with_name("0003_effects.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Only adds; harmless before the code is deployed."""

    dependencies = [("monitor", "0002_permissions")]
    operations = [migrations.RunSQL(SCHEMA)]
