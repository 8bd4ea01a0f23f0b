from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0027_import_options"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="importjob",
            name="import_kind_known",
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
                    ("qrels", "Relevance judgements (TREC qrels)"),
                    ("run", "Rankings of a version (TREC run)"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="importjob",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["samples", "labels", "scores", "questions", "qrels", "run"])),
                name="import_kind_known",
            ),
        ),
    ]
