"""Which parts of the labels have some of a version of the guidelines."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0048_samples_by_question"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="label",
            index=BrinIndex(fields=["guideline_version"], name="label_by_guidelines", autosummarize=True),
        ),
    ]
