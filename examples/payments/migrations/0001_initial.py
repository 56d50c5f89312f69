"""Accounts, ledger entries and notices."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The first tables."""

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("number", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("balance_cents", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("account", models.CharField(max_length=64)),
                ("sequence", models.BigIntegerField()),
                ("text", models.CharField(max_length=200)),
                ("message_key", models.CharField(db_index=True, max_length=512)),
                ("message_id", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="LedgerEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sequence", models.BigIntegerField()),
                ("amount_cents", models.BigIntegerField()),
                ("message_key", models.CharField(db_index=True, max_length=512)),
                ("message_id", models.BigIntegerField()),
                ("booked_at", models.DateTimeField(auto_now_add=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="payments.account",
                    ),
                ),
            ],
        ),
    ]
