"""Until when a user has read what concerns them, and the index by which that is found."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0018_guideline_versions"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="notices_seen_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(
                    (
                        "action__in",
                        (
                            "batch.adjudicating",
                            "batch.opened",
                            "task.reassigned",
                            "task.returned",
                            "thread.answered",
                            "thread.asked",
                        ),
                    )
                ),
                fields=["project", "created_at"],
                name="audit_noticed",
            ),
        ),
    ]
