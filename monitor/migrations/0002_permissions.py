"""The anchor of the operators' permissions: no table. The groups come after each migrate."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Only tells Django of the permissions; harmless before the code is deployed."""

    dependencies = [("monitor", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Access",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
            ],
            options={
                "managed": False,
                "default_permissions": (),
                "permissions": [
                    ("view", "May look at the console"),
                    ("reveal_payload", "May see payloads"),
                    ("operate", "May requeue, hold, resume and acknowledge"),
                    ("decide", "May discard, restore and decide mismatches"),
                    ("administer", "May administer"),
                ],
            },
        ),
    ]
