from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0026_qualifications"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="importjob",
            name="import_kind_known",
        ),
        migrations.AddField(
            model_name="importjob",
            name="options",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AlterField(
            model_name="importjob",
            name="kind",
            field=models.CharField(
                choices=[
                    ("samples", "Samples"),
                    ("labels", "Labels"),
                    ("scores", "Judge scores"),
                    ("questions", "Questions of a test set"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="importjob",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["samples", "labels", "scores", "questions"])), name="import_kind_known"
            ),
        ),
    ]
