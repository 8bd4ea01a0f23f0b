"""What a reviewer sent back comes first: found without reading a person's other open tasks."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotate", "0005_batch_sample_overlap")]

    operations: ClassVar = [
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ["pending", "in_progress", "returned"]),
                    models.Q(("return_message", ""), _negated=True),
                ),
                fields=["annotator", "batch", "position"],
                name="task_returned_by_annotator",
            ),
        ),
    ]
