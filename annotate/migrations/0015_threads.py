"""Questions of annotators, and what is answered. What was written in them stays as it is, and goes with its project
only (0013_deleted_projects)."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_KEPT_MESSAGES = """
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
        WHEN 'annotate_threadmessage' THEN
            SELECT project_id INTO of_project FROM annotate_thread WHERE id = OLD.thread_id;
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
CREATE TRIGGER threadmessage_stays BEFORE UPDATE OR DELETE ON annotate_threadmessage
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();
"""
_BEFORE = """
DROP TRIGGER threadmessage_stays ON annotate_threadmessage;
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


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0014_saved_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="Thread",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(blank=True, max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting for an answer"), ("answered", "Answered"), ("closed", "Closed")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("length", models.PositiveIntegerField(default=0)),
                ("last_answer", models.PositiveIntegerField(default=0)),
                ("read_to", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotate.criterion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="threads",
                        to="annotate.project",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="threads", to="annotate.sample"
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="threads", to="annotate.task"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ThreadMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("idempotency_key", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "thread",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="messages",
                        to="annotate.thread",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["project", "state", "-id"], name="thread_by_state"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["asked_by", "project", "-id"], name="thread_by_asker"),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "answered", "closed"])), name="thread_state_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("unit", ""),
                    ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$"),
                    _connector="OR",
                ),
                name="thread_unit_is_address",
            ),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("criterion__isnull", True),
                    ("unit", ""),
                )
                | (models.Q(("criterion__isnull", False)) & ~models.Q(("unit", ""))),
                name="thread_criterion_of_unit",
            ),
        ),
        migrations.AddConstraint(
            model_name="thread",
            constraint=models.CheckConstraint(
                condition=models.Q(("last_answer__lte", models.F("length")), ("read_to__lte", models.F("length"))),
                name="thread_numbers_in_it",
            ),
        ),
        migrations.AddConstraint(
            model_name="threadmessage",
            constraint=models.UniqueConstraint(fields=("thread", "number"), name="thread_message_number_once"),
        ),
        migrations.AddConstraint(
            model_name="threadmessage",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1), models.Q(("text", ""), _negated=True)),
                name="thread_message_says_something",
            ),
        ),
        migrations.RunSQL(_KEPT_MESSAGES, _BEFORE),
    ]
