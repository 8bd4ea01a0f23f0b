"""Samples that vary together share a group. What a pipeline answers under one id in every version (`kb-001@v7`) is one."""

from django.db import migrations, models

_PUSHED = """
    UPDATE annotate_sample
       SET group_key = left(external_id, length(external_id) - length(pipeline_version) - 1)
     WHERE pipeline_version <> '' AND right(external_id, length(pipeline_version) + 1) = '@' || pipeline_version
       AND length(external_id) > length(pipeline_version) + 1
       -- Named by its content, and so another one in every version.
       AND external_id !~ '^sample-[0-9a-f]{32}@'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0008_how_labels_came"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="group_key",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.RunSQL(_PUSHED, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="sample",
            index=models.Index(
                condition=models.Q(("group_key", ""), _negated=True), fields=["project"], name="sample_grouped"
            ),
        ),
    ]
