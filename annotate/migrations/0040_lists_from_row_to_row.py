"""The lists of samples and units go from one row to the next (docs/decisions/0070-long-lists.md)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0039_confirmed_email"),
    ]

    operations = [
        migrations.AlterField(
            model_name="sample",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="samples",
                to="annotate.project",
            ),
        ),
        migrations.AddIndex(
            model_name="sample",
            index=models.Index(fields=["project", "id"], name="sample_by_project"),
        ),
        migrations.AddIndex(
            model_name="sample",
            index=models.Index(fields=["project", "pipeline_version", "id"], name="sample_by_pipeline"),
        ),
    ]
