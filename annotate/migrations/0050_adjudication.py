"""What a person decides: the votes it rests on and when; lessons that were read; the order of the queue."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0020_queue_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="LessonRead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotate.verdict"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user", "verdict"), name="lesson_read_once")],
            },
        ),
        migrations.RemoveIndex(
            model_name="verdict",
            name="verdict_queue",
        ),
        migrations.AddField(
            model_name="verdict",
            name="agreement",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="verdict",
            name="decided_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="verdict",
            name="decided_votes",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ["pending", "in_progress", "returned"]),
                    models.Q(("return_message", ""), _negated=True),
                ),
                fields=["sample"],
                name="task_sent_back",
            ),
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(
                condition=models.Q(
                    models.Q(("state", "settled"), _negated=True),
                    ("method__in", ["adjudicated", "accepted", "dawid_skene"]),
                    _connector="OR",
                ),
                fields=["criterion", "sample"],
                include=("unit", "state", "agreement", "batch", "id"),
                name="verdict_for_people",
            ),
        ),
    ]
