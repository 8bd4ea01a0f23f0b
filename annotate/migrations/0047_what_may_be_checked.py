"""Single labels and approvals are found in indexes that have nothing else."""

from django.db import migrations, models
from django.db.models.lookups import LessThan


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0046_the_trail_of_one_person"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(
                fields=["criterion", "sample"],
                include=("unit", "batch", "id"),
                condition=models.Q(
                    LessThan(
                        models.Func(
                            models.F("votes"), function="jsonb_array_length", output_field=models.IntegerField()
                        ),
                        2,
                    ),
                    ("approved_by__isnull", True),
                    ("method__in", ["unanimous", "majority"]),
                    ("state", "settled"),
                ),
                name="verdict_single",
            ),
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(
                fields=["criterion"], condition=models.Q(("approved_at__isnull", False)), name="verdict_approved"
            ),
        ),
    ]
