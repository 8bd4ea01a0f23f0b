"""Indexes for the pull queue, in the place of two foreign keys' own."""

from typing import ClassVar

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotate", "0010_returned_tasks_first")]

    operations: ClassVar = [
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                fields=["annotator", "batch", "tag", "position"],
                condition=Q(annotator__isnull=False),
                name="task_by_annotator",
            ),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(fields=["batch", "position"], name="task_by_batch"),
        ),
        migrations.AlterField(
            model_name="task",
            name="annotator",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tasks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="task",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tasks",
                to="annotate.batch",
            ),
        ),
    ]
