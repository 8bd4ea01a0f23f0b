"""Guidelines have versions, and labels say under which they were made. The text of today is version 1.

Labels are stamped with it where the trail shows that it was the only text there ever was: the project's beginning is in
the trail, and no change of the guidelines. In any other project a page with an earlier text may have been open, so
nobody knows. Imported labels were made under guidelines that are not here.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_FIRST = """
    INSERT INTO annotate_guidelineversion (project_id, number, text, note)
    SELECT id, 1, guidelines, '' FROM annotate_project
"""
_STAMP = """
    UPDATE annotate_label l SET guideline_version = 1
      FROM annotate_rater r
     WHERE r.id = l.rater_id AND l.task_id IS NOT NULL
       AND EXISTS (SELECT FROM annotate_auditentry e
                    WHERE e.project_id = r.project_id AND e.action = 'project.created')
       AND NOT EXISTS (SELECT FROM annotate_auditentry e
                        WHERE e.project_id = r.project_id AND e.action = 'project.changed'
                          AND e.details -> 'fields' ? 'guidelines')
"""
# As `annotate_refuse_rewriting` does; a function of its own, since that one is rewritten with each table that is added.
_STAYS = """
CREATE FUNCTION annotate_keep_guidelines() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM annotate_project WHERE id = OLD.project_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0008-the-trail.md.';
END $$;
CREATE TRIGGER guidelineversion_stays BEFORE UPDATE OR DELETE ON annotate_guidelineversion
    FOR EACH ROW EXECUTE FUNCTION annotate_keep_guidelines();
"""
_GO = """
DROP TRIGGER guidelineversion_stays ON annotate_guidelineversion;
DROP FUNCTION annotate_keep_guidelines();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0017_audit_schedules"),
    ]

    operations = [
        migrations.AddField(
            model_name="label",
            name="guideline_version",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="guidelines_seen",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="GuidelineVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(blank=True, null=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dispute",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guideline_versions",
                        to="annotate.verdict",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guideline_versions",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="guideline_version_once"),
                    models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="guideline_version_from_one"),
                ],
            },
        ),
        migrations.RunSQL(_FIRST, migrations.RunSQL.noop),
        migrations.RunSQL(_STAMP, migrations.RunSQL.noop),
        migrations.RunSQL(_STAYS, _GO),
    ]
