"""How labels came: batches of before get their chances where these are certain, and every batch how its samples came."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def say_how_batches_came(apps: Any, schema_editor: Any) -> None:
    """All samples: 1; n at random, from all samples that there were: n/N. Where a batch was extended, which samples are
    the later ones is not known: only a batch of all that was extended by all is one still."""
    batches, samples = apps.get_model("annotate", "Batch"), apps.get_model("annotate", "Sample")
    rows = apps.get_model("annotate", "BatchSample")
    for batch in batches.objects.all().iterator():
        selection = batch.selection
        method, extended = selection.get("method", "all"), selection.get("extensions", [])
        its = rows.objects.filter(batch=batch)
        has_chances = its.filter(probability__isnull=False).exists()
        came, chance = "by_hand", None
        if has_chances:
            came = "drawn"
        elif method == "relabel":
            came = "renewed"
        elif selection.get("filter"):
            came = "filter"
        elif method == "all":
            came = "drawn"
            if all(one.get("method") == "all" and not one.get("filter") for one in extended):
                chance = 1.0
        elif method == "random":
            came = "drawn"
            there = samples.objects.filter(project_id=batch.project_id, created_at__lte=batch.created_at).count()
            if not extended and there:
                chance = min(1.0, selection["n"] / there)
        batch.selection = {**selection, "method": method, "came": came}
        batch.save(update_fields=["selection"])
        if chance is not None:
            its.update(probability=chance, stratum=1)


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0007_abstaining_samples"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeclaredDraw",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.SlugField(db_index=False, max_length=60)),
                (
                    "how",
                    models.CharField(
                        choices=[
                            ("all", "All available samples were labelled"),
                            ("random", "Drawn at random"),
                            ("column", "Each sample’s probability is in its metadata"),
                            ("unknown", "Unknown: not counted in guarantees"),
                        ],
                        max_length=7,
                    ),
                ),
                ("labelled", models.PositiveIntegerField()),
                ("population", models.PositiveIntegerField(blank=True, null=True)),
                ("column", models.TextField(blank=True, default="")),
                ("declared_at", models.DateTimeField()),
                (
                    "declared_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="declared_draws",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "key"), name="declared_draw_once_per_criterion"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("column", ""), ("how", "all"), ("population__isnull", True)),
                            models.Q(
                                ("column", ""),
                                ("how", "random"),
                                ("population__isnull", False),
                                ("population__gte", models.F("labelled")),
                            ),
                            models.Q(
                                ("how", "column"), ("population__isnull", True), models.Q(("column", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="declared_draw_says_what_it_takes",
                    ),
                ],
            },
        ),
        migrations.RunPython(say_how_batches_came, migrations.RunPython.noop, elidable=True),
    ]
