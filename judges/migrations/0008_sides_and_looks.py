"""One division and one count of looks per criterion key, over its versions and all judges.

A group that was dev for any version is dev: what was seen once can't be locked again. Looks are numbered by when they
were taken; the levels of their intervals stay as they were.
"""

import django.db.models.deletion
from django.db import migrations, models

_SIDES = """
    INSERT INTO judges_groupside (project_id, criterion_key, "group", side)
    SELECT c.project_id, c.key, coalesce(nullif(s.group_key, ''), s.external_id),
           CASE WHEN bool_or(m.is_dev) THEN 'dev' ELSE 'test' END
      FROM judges_splitmember m
      JOIN annotate_criterion c ON c.id = m.criterion_id
      JOIN annotate_sample s ON s.id = m.sample_id
     GROUP BY 1, 2, 3
     ORDER BY min(m.id)
"""
_NUMBERS = """
    UPDATE judges_look l SET project_id = ledger.project_id, criterion_key = ledger.key, number = ledger.number
      FROM (
        SELECT look.id, c.project_id, c.key,
               row_number() OVER (PARTITION BY c.project_id, c.key ORDER BY look.created_at, look.id) AS number
          FROM judges_look look JOIN annotate_criterion c ON c.id = look.criterion_id
      ) AS ledger
     WHERE ledger.id = l.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0009_groups"),
        ("judges", "0007_requirements"),
    ]

    operations = [
        migrations.CreateModel(
            name="GroupSide",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("criterion_key", models.SlugField(max_length=60, db_index=False)),
                ("group", models.TextField()),
                (
                    "side",
                    models.CharField(choices=[("dev", "Dev"), ("test", "Test"), ("systems", "Systems")], max_length=7),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="group_sides", to="annotate.project"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "criterion_key", "group"), name="group_side_once_per_criterion_key"
                    )
                ],
            },
        ),
        migrations.RunSQL(_SIDES),
        migrations.DeleteModel(name="SplitMember"),
        migrations.RemoveConstraint(model_name="look", name="look_number_once"),
        migrations.AddField(
            model_name="look",
            name="project",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="looks",
                to="annotate.project",
            ),
        ),
        migrations.AddField(
            model_name="look",
            name="criterion_key",
            field=models.SlugField(db_index=False, default="", max_length=60),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="look",
            name="promise",
            field=models.PositiveSmallIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.RunSQL(_NUMBERS),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE"),
        migrations.AlterField(
            model_name="look",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="looks",
                to="annotate.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(
                fields=("project", "criterion_key", "number"), name="look_number_once_per_criterion_key"
            ),
        ),
    ]
