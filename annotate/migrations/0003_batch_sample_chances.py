"""A batch that was drawn with known chances keeps each sample's own, so that its labels can speak for all samples."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotate", "0002_sample_rows_stay_inline")]

    operations: ClassVar = [
        migrations.AddField("batchsample", "probability", models.FloatField(blank=True, null=True)),
        migrations.AddField("batchsample", "stratum", models.PositiveSmallIntegerField(blank=True, null=True)),
        migrations.AddConstraint(
            "batchsample",
            models.CheckConstraint(
                condition=models.Q(probability__isnull=True, stratum__isnull=True)
                | models.Q(
                    probability__isnull=False,
                    probability__gt=0,
                    probability__lte=1,
                    stratum__isnull=False,
                    stratum__gte=1,
                ),
                name="batch_sample_chance_with_stratum",
            ),
        ),
    ]
