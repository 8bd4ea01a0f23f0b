from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0070_approval")]

    operations = [
        migrations.AddField("batch", "settle_share", models.FloatField(blank=True, null=True)),
        migrations.AddField("batch", "settle_votes", models.PositiveSmallIntegerField(blank=True, null=True)),
        migrations.AlterField(
            "batch",
            "consensus",
            models.CharField(
                choices=[("majority", "Majority"), ("unanimous", "Unanimous"), ("threshold", "Threshold")],
                db_default="majority",
                default="majority",
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint("batch", "batch_consensus_known"),
        migrations.AddConstraint(
            "batch",
            models.CheckConstraint(
                condition=models.Q(consensus__in=["majority", "unanimous", "threshold"]), name="batch_consensus_known"
            ),
        ),
        migrations.AddConstraint(
            "batch",
            models.CheckConstraint(
                condition=models.Q(
                    consensus="threshold",
                    settle_share__isnull=False,
                    settle_share__gt=0.5,
                    settle_share__lte=1,
                    settle_votes__isnull=False,
                    settle_votes__gte=1,
                )
                | (~models.Q(consensus="threshold") & models.Q(settle_share__isnull=True, settle_votes__isnull=True)),
                name="batch_threshold_of_more_than_half",
            ),
        ),
    ]
