from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    """Instant on any number of scores: none of them is read. Those that are there keep both conditions, as the old
    findings are among the new ones and none has a confidence."""

    dependencies = [
        ("annotate", "0050_verdict_by_method"),
        ("judges", "0013_bias_probes"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="score", name="score_finding_known"),
        migrations.AddField(model_name="score", name="confidence", field=models.FloatField(blank=True, null=True)),
        migrations.AlterField(
            model_name="score",
            name="finding",
            field=models.CharField(
                blank=True,
                choices=[
                    ("no_citation", "No citation"),
                    ("invalid_citation", "Invalid citation"),
                    ("no_logprobs", "No log-probabilities from the endpoint"),
                    ("other_logprobs", "Log-probabilities don’t match the answer"),
                ],
                db_default="",
                default="",
                max_length=16,
            ),
        ),
        AddConstraintNotValid(
            model_name="score",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("finding", ""),
                    models.Q(
                        ("finding__in", ["no_citation", "invalid_citation", "no_logprobs", "other_logprobs"]),
                        ("status", "ok"),
                    ),
                    _connector="OR",
                ),
                name="score_finding_known",
            ),
        ),
        AddConstraintNotValid(
            model_name="score",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0), ("confidence__lte", 1), ("status", "ok")),
                    _connector="OR",
                ),
                name="score_confidence_is_share",
            ),
        ),
    ]
