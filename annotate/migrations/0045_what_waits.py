"""What waits for a reviewer is counted in an index that has nothing else."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0044_jobs_to_do"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(
                fields=["criterion", "sample"],
                include=("unit", "state", "agreement", "batch", "id"),
                condition=models.Q(("state", "settled"), _negated=True),
                name="verdict_waiting",
            ),
        ),
    ]
