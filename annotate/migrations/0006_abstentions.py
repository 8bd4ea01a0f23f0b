"""Whether an answer abstains. Of those that are there already the rule says so where nothing rests on their claims but
scores, and no batch asks people about them; where something does, they stay answers, and their pages tell what the rule
would say. No label, verdict, score or claim is touched.
"""

from django.db import migrations, models
from django.utils.module_loading import import_string

# Named, since rooms stand above the migrations.
_RULE = "annotate.samples.abstention"

# By names, since a later version of a model must not change what this does.
_CANDIDATES = """
    SELECT id, answer FROM annotate_sample s
     WHERE length(answer) <= %s
       AND NOT EXISTS (SELECT FROM annotate_label x WHERE x.sample_id = s.id AND x.unit LIKE 'claim:%%')
       AND NOT EXISTS (SELECT FROM annotate_verdict x WHERE x.sample_id = s.id AND x.unit LIKE 'claim:%%')
       AND NOT EXISTS (SELECT FROM annotate_goldanswer x WHERE x.sample_id = s.id AND x.unit LIKE 'claim:%%')
       AND NOT EXISTS (
         SELECT FROM annotate_batch b
           JOIN annotate_batchcriterion bc ON bc.batch_id = b.id
           JOIN annotate_criterion c ON c.id = bc.criterion_id AND c.unit = 'claim'
          WHERE b.status IN ('open', 'paused', 'adjudicating')
            AND (EXISTS (SELECT FROM annotate_batchsample bs WHERE bs.batch_id = b.id AND bs.sample_id = s.id)
                 OR EXISTS (SELECT FROM annotate_task t WHERE t.batch_id = b.id AND t.sample_id = s.id)))
     ORDER BY id
"""
_AT_ONCE = 10_000


def propose(apps, schema_editor):
    longest, is_abstention = (import_string(f"{_RULE}.{name}") for name in ("LONGEST", "is_abstention"))
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        cursor.execute(_CANDIDATES, [longest])
        while rows := cursor.fetchmany(_AT_ONCE):
            abstain = [pk for pk, answer in rows if is_abstention(answer)]
            with connection.cursor() as writer:
                writer.execute("UPDATE annotate_sample SET abstained = true WHERE id = ANY(%s)", [abstain])


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0005_answer_may_be_missing"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="abstained",
            field=models.BooleanField(db_default=False, default=False, null=True),
        ),
        migrations.AddField(
            model_name="sample",
            name="abstained_source",
            field=models.CharField(
                blank=True,
                choices=[
                    ("rule", "Proposed by a rule"),
                    ("file", "Given in the file"),
                    ("labels", "Treated as an answer by imported labels"),
                    ("person", "Decided manually"),
                ],
                db_default="rule",
                default="rule",
                max_length=6,
            ),
        ),
        # A sample without an answer has nothing that abstains.
        migrations.RunSQL(
            "UPDATE annotate_sample SET abstained = NULL, abstained_source = '' WHERE answer IS NULL",
            migrations.RunSQL.noop,
        ),
        migrations.AddConstraint(
            model_name="sample",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("abstained__isnull", True), ("abstained_source", ""), ("answer__isnull", True)),
                    models.Q(
                        ("abstained__isnull", False),
                        ("abstained_source__in", ["rule", "file", "labels", "person"]),
                        ("answer__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="sample_abstained_of_an_answer",
            ),
        ),
        migrations.RunPython(propose, migrations.RunPython.noop),
    ]
