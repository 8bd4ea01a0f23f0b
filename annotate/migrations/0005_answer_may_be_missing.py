"""A sample may have no answer (docs/decisions/0025-no-answer.md); then it has no second one and no claims."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0004_import_queue")]

    operations = [
        migrations.AlterField(
            model_name="sample",
            name="answer",
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="sample",
            constraint=models.CheckConstraint(
                condition=models.Q(answer__isnull=False) | models.Q(answer_b__isnull=True, claims=[]),
                name="sample_claims_need_an_answer",
            ),
        ),
    ]
