"""Timeline entries and triage steps."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """The first tables."""

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="TimelineEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("timeline", models.CharField(max_length=256)),
                ("event", models.CharField(max_length=64)),
                ("action", models.CharField(blank=True, max_length=64)),
                ("actor", models.CharField(blank=True, max_length=64)),
                ("title", models.CharField(blank=True, max_length=256)),
                ("consumer", models.CharField(max_length=200)),
                ("message_key", models.CharField(db_index=True, max_length=512)),
                ("message_id", models.BigIntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="TriageStep",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("item", models.CharField(max_length=256)),
                ("needs", models.CharField(max_length=64)),
                ("message_key", models.CharField(db_index=True, max_length=512)),
                ("message_id", models.BigIntegerField()),
            ],
        ),
    ]
