"""Receipts of charges."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One table."""

    dependencies = [("payments", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Receipt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("account", models.CharField(max_length=64)),
                ("sequence", models.BigIntegerField()),
                ("amount_cents", models.BigIntegerField()),
                ("provider_id", models.CharField(blank=True, max_length=64)),
                ("message_key", models.CharField(db_index=True, max_length=512)),
                ("message_id", models.BigIntegerField()),
            ],
        ),
    ]
