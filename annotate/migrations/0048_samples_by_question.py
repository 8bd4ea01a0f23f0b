"""Samples of systems with the same question are found by it."""

from django.contrib.postgres.indexes import HashIndex
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0047_what_may_be_checked"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="sample",
            index=HashIndex(
                fields=["question"],
                name="sample_by_question",
                condition=models.Q(("pipeline_version", ""), _negated=True),
            ),
        ),
    ]
