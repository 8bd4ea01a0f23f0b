import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0023_guideline_images"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProposedValues",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("judge", models.TextField()),
                ("version", models.TextField()),
                ("proposed", models.JSONField()),
                ("shown", models.BooleanField()),
                ("withheld_chance", models.FloatField()),
            ],
        ),
        migrations.AddField(
            model_name="batch",
            name="proposals",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            model_name="batch",
            name="withheld_share",
            field=models.FloatField(db_default=0.2, default=0.2),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("withheld_share__gt", 0), ("withheld_share__lt", 1)),
                name="batch_withheld_share_is_part",
            ),
        ),
        migrations.AddField(
            model_name="proposedvalues",
            name="batch",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="proposed",
                to="annotate.batch",
            ),
        ),
        migrations.AddField(
            model_name="proposedvalues",
            name="criterion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.criterion"
            ),
        ),
        migrations.AddField(
            model_name="proposedvalues",
            name="sample",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.sample"
            ),
        ),
        migrations.AddConstraint(
            model_name="proposedvalues",
            constraint=models.UniqueConstraint(
                fields=("batch", "sample", "criterion"), name="proposed_once_per_criterion"
            ),
        ),
        migrations.AddConstraint(
            model_name="proposedvalues",
            constraint=models.CheckConstraint(
                condition=models.Q(("withheld_chance__gt", 0), ("withheld_chance__lte", 1)),
                name="proposed_withheld_with_chance",
            ),
        ),
    ]
