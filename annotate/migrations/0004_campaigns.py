import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0003_batch_sample_chances"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(max_length=60)),
                ("subject", models.TextField()),
                ("details", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "-id"], name="audit_by_project")],
            },
        ),
        migrations.CreateModel(
            name="ClaimEdit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("change", models.JSONField()),
                ("claims", models.JSONField()),
                (
                    "created_at",
                    models.DateTimeField(auto_now_add=True, db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="claim_edits", to="annotate.sample"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("sample", "revision"), name="claim_edit_revision_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("resolution", models.TextField(blank=True)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotate.project"
                    ),
                ),
                (
                    "raised_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotate.sample"
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="flags",
                        to="annotate.task",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("resolved_at__isnull", True)),
                        fields=["project", "-id"],
                        name="flag_waiting",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("resolved_at__isnull", True), ("resolved_by__isnull", True)),
                            models.Q(("resolved_at__isnull", False), ("resolved_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="flag_resolved_by_someone",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=20)),
                ("value", models.JSONField()),
                ("reason", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="gold_answers",
                        to="annotate.criterion",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="gold_answers", to="annotate.sample"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$")
                        ),
                        name="gold_answer_unit_is_address",
                    ),
                    models.UniqueConstraint(fields=("sample", "unit", "criterion"), name="gold_answer_once_per_unit"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("admin", "Admin"), ("reviewer", "Reviewer"), ("annotator", "Annotator")],
                        max_length=10,
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("max_uses", models.PositiveSmallIntegerField(default=1)),
                ("uses", models.PositiveSmallIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="invites", to="annotate.project"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["admin", "reviewer", "annotator"])), name="invite_role_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_uses__gte", 1), ("uses__lte", models.F("max_uses"))),
                        name="invite_not_overused",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VerdictEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("state", models.CharField(max_length=10)),
                ("value", models.JSONField(blank=True, null=True)),
                ("method", models.CharField(blank=True, max_length=12)),
                ("votes", models.JSONField(default=list)),
                ("confidence", models.FloatField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(auto_now_add=True, db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="events", to="annotate.verdict"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["verdict", "revision"], name="verdict_event_by_verdict")],
            },
        ),
        migrations.RemoveConstraint(
            model_name="batch",
            name="batch_status_known",
        ),
        migrations.RemoveConstraint(
            model_name="task",
            name="task_once_per_annotator",
        ),
        migrations.RemoveConstraint(
            model_name="task",
            name="task_status_known",
        ),
        migrations.RemoveConstraint(
            model_name="verdict",
            name="verdict_adjudicated_by_someone",
        ),
        migrations.AddField(
            model_name="batch",
            name="consensus",
            field=models.CharField(
                choices=[("majority", "Majority"), ("unanimous", "Unanimous")],
                default="majority",
                max_length=10,
                db_default="majority",
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="gold_feedback",
            field=models.BooleanField(default=False, db_default=False),
        ),
        migrations.AddField(
            model_name="batch",
            name="gold_share",
            field=models.FloatField(default=0, db_default=0),
        ),
        migrations.AddField(
            model_name="batch",
            name="lease_minutes",
            field=models.PositiveSmallIntegerField(default=30, db_default=30),
        ),
        migrations.AddField(
            model_name="batch",
            name="overlap_share",
            field=models.FloatField(default=1, db_default=1),
        ),
        migrations.AddField(
            model_name="batch",
            name="relabels",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="relabelled_by",
                to="annotate.criterion",
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="repeat_share",
            field=models.FloatField(default=0, db_default=0),
        ),
        migrations.AddField(
            model_name="batch",
            name="strategy",
            field=models.CharField(
                choices=[("balanced", "Balanced"), ("pull", "Pull queue")],
                default="balanced",
                max_length=10,
                db_default="balanced",
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="tag_key",
            field=models.CharField(blank=True, max_length=200, default="", db_default=""),
        ),
        migrations.AddField(
            model_name="batchsample",
            name="overlap",
            field=models.PositiveSmallIntegerField(default=1, db_default=1),
        ),
        migrations.AddField(
            model_name="batchsample",
            name="tag",
            field=models.TextField(blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            model_name="criterion",
            name="cant_tell",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="label",
            name="active_ms",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="label",
            name="cant_tell",
            field=models.TextField(blank=True, db_default=""),
        ),
        migrations.AddField(
            model_name="labelevent",
            name="cant_tell",
            field=models.TextField(blank=True, db_default=""),
        ),
        migrations.AddField(
            model_name="membership",
            name="is_active",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="tags",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(),
                blank=True,
                db_default=models.Value(
                    [], django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)
                ),
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="show_judges",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="project",
            name="show_names",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="project",
            name="teach",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="sample",
            name="claims_revision",
            field=models.PositiveIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name="task",
            name="lease_expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="task",
            name="purpose",
            field=models.CharField(
                choices=[("label", "Label"), ("gold", "Gold"), ("repeat", "Repeat")],
                default="label",
                max_length=6,
                db_default="label",
            ),
        ),
        migrations.AddField(
            model_name="task",
            name="return_message",
            field=models.TextField(blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            model_name="task",
            name="returned_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="task",
            name="tag",
            field=models.TextField(blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(blank=True, db_default="", max_length=10),
        ),
        migrations.AddField(
            model_name="user",
            name="preferences",
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AlterField(
            model_name="batch",
            name="status",
            field=models.CharField(
                choices=[
                    ("draft", "Draft"),
                    ("open", "Open"),
                    ("paused", "Paused"),
                    ("adjudicating", "Adjudicating"),
                    ("closed", "Closed"),
                ],
                default="draft",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="sample",
            name="claims_source",
            field=models.CharField(
                choices=[
                    ("file", "Given in the file"),
                    ("split", "Split by sentence"),
                    ("labels", "Named by imported labels"),
                    ("edited", "Edited here"),
                ],
                default="file",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="task",
            name="annotator",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="tasks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="task",
            name="status",
            field=models.CharField(
                choices=[
                    ("pending", "Pending"),
                    ("in_progress", "In progress"),
                    ("submitted", "Submitted"),
                    ("returned", "Returned"),
                    ("skipped", "Skipped"),
                    ("released", "Handed on"),
                ],
                default="pending",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="verdict",
            name="method",
            field=models.CharField(
                blank=True,
                choices=[
                    ("unanimous", "Unanimous"),
                    ("majority", "Majority"),
                    ("adjudicated", "Adjudicated"),
                    ("accepted", "Accepted in bulk"),
                    ("dawid_skene", "Dawid–Skene"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(("annotator__isnull", True), ("status", "pending")),
                fields=["batch", "tag", "position"],
                name="task_free_by_batch",
            ),
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(
                    ("lease_expires_at__isnull", False), ("status__in", ["pending", "in_progress", "returned"])
                ),
                fields=["batch", "lease_expires_at"],
                name="task_leased_by_batch",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["draft", "open", "paused", "adjudicating", "closed"])),
                name="batch_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("overlap_share__gte", 0), ("overlap_share__lte", 1)),
                name="batch_overlap_share_is_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("gold_share__gte", 0), ("gold_share__lte", 1), ("repeat_share__gte", 0), ("repeat_share__lte", 1)
                ),
                name="batch_gold_and_repeats_are_shares",
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("strategy__in", ["balanced", "pull"])), name="batch_strategy_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("consensus__in", ["majority", "unanimous"])), name="batch_consensus_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="batch",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__gte", 1)), name="batch_lease_at_least_a_minute"
            ),
        ),
        migrations.AddConstraint(
            model_name="batchsample",
            constraint=models.CheckConstraint(
                condition=models.Q(("overlap__gte", 1)), name="batch_sample_overlap_at_least_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(("cant_tell", ""), ("value__isnull", True), _connector="OR"),
                name="label_value_or_cant_tell",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.UniqueConstraint(
                fields=("batch", "sample", "annotator", "purpose"), name="task_once_per_annotator"
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(("purpose__in", ["label", "gold", "repeat"])), name="task_purpose_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("annotator__isnull", False), models.Q(("purpose", "label"), ("status", "pending")), _connector="OR"
                ),
                name="task_begun_by_someone",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "returned"), _negated=True),
                    models.Q(("return_message", ""), _negated=True),
                    _connector="OR",
                ),
                name="task_returned_with_message",
            ),
        ),
        migrations.AddConstraint(
            model_name="task",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["pending", "in_progress", "submitted", "returned", "skipped", "released"])
                ),
                name="task_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("method__in", ["adjudicated", "accepted"]), _negated=True),
                    ("decided_by__isnull", False),
                    _connector="OR",
                ),
                name="verdict_adjudicated_by_someone",
            ),
        ),
    ]
