"""The index by which notices are found also holds entries on certificates that ended."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0021_multi_select"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="auditentry",
            name="audit_noticed",
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
                            "certificate.ended",
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
