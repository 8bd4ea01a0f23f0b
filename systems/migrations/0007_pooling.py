import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0029_composed_samples"),
        ("systems", "0006_diagnosis_mapping"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ComposedSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("documents", models.JSONField()),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="composed", to="systems.question"
                    ),
                ),
                (
                    "sample",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotate.sample"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RelevanceDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("document_id", models.TextField()),
                ("imported", models.PositiveIntegerField()),
                ("people", models.PositiveIntegerField()),
                ("holds", models.CharField(choices=[("imported", "Imported"), ("people", "Annotators")], max_length=8)),
                ("decided_at", models.DateTimeField(auto_now=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="relevance_decisions",
                        to="systems.question",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["question", "document_id"], name="relevance_decision_once"),
                    models.CheckConstraint(
                        condition=models.Q(("holds__in", ["imported", "people"])), name="relevance_decision_of_one"
                    ),
                ],
            },
        ),
        # Only imported judgements were ever stored: people's are read from their verdicts.
        migrations.RemoveConstraint(model_name="relevance", name="relevance_once_per_source"),
        migrations.RemoveConstraint(model_name="relevance", name="relevance_source_known"),
        migrations.RemoveField(model_name="relevance", name="source"),
        migrations.RemoveField(model_name="relevance", name="text_hash"),
        migrations.AddConstraint(
            model_name="relevance",
            constraint=models.UniqueConstraint(fields=("question", "document_id"), name="relevance_once"),
        ),
    ]
