"""A project can be deleted as a whole: rows that stay as they are go with their project, and in no other way."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# A project's row is deleted before what refers to it: foreign keys are checked when the transaction ends, and then let
# it end only when all of that is gone. So a row may go exactly when its project went before, in the same transaction.
_WITH_ITS_PROJECT = """
CREATE OR REPLACE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_project bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        CASE TG_TABLE_NAME
        WHEN 'annotate_labelevent' THEN
            SELECT s.project_id INTO of_project
              FROM annotate_label l JOIN annotate_sample s ON s.id = l.sample_id WHERE l.id = OLD.label_id;
        WHEN 'annotate_verdictevent' THEN
            SELECT s.project_id INTO of_project
              FROM annotate_verdict v JOIN annotate_sample s ON s.id = v.sample_id WHERE v.id = OLD.verdict_id;
        WHEN 'annotate_label', 'annotate_verdict', 'annotate_claimedit' THEN
            SELECT project_id INTO of_project FROM annotate_sample WHERE id = OLD.sample_id;
        WHEN 'annotate_auditentry', 'annotate_release' THEN
            of_project := OLD.project_id;
        ELSE
            NULL;
        END CASE;
        IF of_project IS NOT NULL AND NOT EXISTS (SELECT FROM annotate_project WHERE id = of_project) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0008-the-trail.md.';
END $$;
"""
_NEVER = """
CREATE OR REPLACE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0008-the-trail.md.';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0012_free_text"),
    ]

    operations = [
        migrations.AddField("project", "deleting_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField(
            "project",
            "deleting_by",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="LeftFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stored_as", models.CharField(max_length=100)),
            ],
        ),
        migrations.AddIndex(
            "labelevent",
            models.Index(
                condition=models.Q(("carried_from__isnull", False)),
                fields=["carried_from"],
                name="label_event_carried",
            ),
        ),
        migrations.RunSQL(_WITH_ITS_PROJECT, _NEVER),
    ]
