"""All tables, and what the models can't say: how samples are stored, and that the trail writes itself and stays."""

import uuid

from django.conf import settings
from django.contrib.auth.models import UserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone

# Samples of a few kilobytes stay in their row uncompressed: compressing each one was a third of an import's time.
_ROWS_STAY_INLINE = "ALTER TABLE annotate_sample SET (toast_tuple_target = 8160)"
_ROWS_AS_EVER = "ALTER TABLE annotate_sample RESET (toast_tuple_target)"

# To the letter what databases from before this migration have: Django would write 0.0 and 1.0.
_SHARES = """
ALTER TABLE annotate_batch ALTER COLUMN gold_share SET DEFAULT 0, ALTER COLUMN repeat_share SET DEFAULT 0,
    ALTER COLUMN overlap_share SET DEFAULT 1
"""

# Whatever writes a verdict, a service, a bulk statement or a hand at psql, its states are logged by the database. Once a
# statement, not once a row: settling a million units writes their events in one go.
_LOGGED = """
        INSERT INTO annotate_verdictevent
               (verdict_id, revision, state, value, method, votes, confidence, reason, actor_id, created_at)
        SELECT n.id, n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason,
               -- A decision that was reopened is the rule's doing, not that of the reviewer who made it.
               CASE WHEN n.state = 'settled' AND n.method IN ('adjudicated', 'accepted', 'dawid_skene')
                    THEN n.decided_by_id ELSE n.approved_by_id END,
               statement_timestamp()
          FROM now_there n"""
_ONLY_CHANGED = """
          JOIN before b USING (id)
         WHERE (n.revision, n.state, n.value, n.method, n.votes, n.confidence, n.reason, n.decided_by_id,
                n.approved_by_id)
               IS DISTINCT FROM
               (b.revision, b.state, b.value, b.method, b.votes, b.confidence, b.reason, b.decided_by_id,
                b.approved_by_id)"""
# What logs new verdicts is planned once per connection: it joins nothing, so its plan is good for any number of rows.
# Nearly every finished sample makes one verdict, and parsing and planning took longer than writing.
#
# What logs changed ones is EXECUTEd, so that each statement is planned for the rows that it has: a plan kept from a
# first, empty one compares every row with every other.
_LOG_VERDICTS = f"""
CREATE FUNCTION annotate_log_verdicts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM now_there) THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        {_LOGGED};
    ELSE
        EXECUTE $logged${_LOGGED}{_ONLY_CHANGED}$logged$;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER verdict_made AFTER INSERT ON annotate_verdict REFERENCING NEW TABLE AS now_there
    FOR EACH STATEMENT EXECUTE FUNCTION annotate_log_verdicts();
CREATE TRIGGER verdict_changed AFTER UPDATE ON annotate_verdict
    REFERENCING OLD TABLE AS before NEW TABLE AS now_there
    FOR EACH STATEMENT EXECUTE FUNCTION annotate_log_verdicts();
"""
_NO_LOG = """
DROP TRIGGER verdict_made ON annotate_verdict;
DROP TRIGGER verdict_changed ON annotate_verdict;
DROP FUNCTION annotate_log_verdicts();
"""

# TRUNCATE is left alone: it needs the table's owner, and tests clean up with it.
_REFUSE = """
CREATE FUNCTION annotate_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: what is written there stays as it is', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'See docs/decisions/0008-the-trail.md.';
END $$;
"""
_LOGS = ("labelevent", "verdictevent", "auditentry", "claimedit")
# Rows that change while they live, and never go: what was said, what was decided, what left the house.
_KEPT = ("label", "verdict", "release")
_STAYS = (
    "CREATE TRIGGER {0}_stays BEFORE {1} ON annotate_{0} FOR EACH ROW EXECUTE FUNCTION annotate_refuse_rewriting();"
)


def _trigger(table: str, what: str) -> tuple[str, str]:
    return _STAYS.format(table, what), f"DROP TRIGGER {table}_stays ON annotate_{table};"


_TRIGGERS = [_trigger(table, "UPDATE OR DELETE") for table in _LOGS] + [_trigger(table, "DELETE") for table in _KEPT]


class Migration(migrations.Migration):
    replaces = [
        ("annotate", "0001_initial"),
        ("annotate", "0002_sample_rows_stay_inline"),
        ("annotate", "0003_batch_sample_chances"),
        ("annotate", "0004_campaigns"),
        ("annotate", "0005_batch_sample_overlap"),
        ("annotate", "0010_returned_tasks_first"),
        ("annotate", "0020_queue_indexes"),
        ("annotate", "0050_adjudication"),
        ("annotate", "0050_adjudication_fill"),
        ("annotate", "0060_the_trail"),
        ("annotate", "0061_events_of_old_verdicts"),
        ("annotate", "0062_trail_indexes"),
        ("annotate", "0063_database_defaults"),
        ("annotate", "0070_approval"),
        ("annotate", "0071_consensus_threshold"),
        ("annotate", "0080_verdict_events_planned_once"),
        ("annotate", "0081_no_index_twice"),
    ]

    initial = True

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=timezone.now, verbose_name="date joined")),
                ("display_name", models.CharField(blank=True, max_length=150)),
                ("language", models.CharField(blank=True, db_default="", max_length=10)),
                (
                    "preferences",
                    models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "swappable": "AUTH_USER_MODEL",
            },
            managers=[("objects", UserManager())],
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("guidelines", models.TextField(blank=True)),
                ("seed", models.BigIntegerField(default=20260901)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("show_judges", models.BooleanField(db_default=False, default=False)),
                ("show_names", models.BooleanField(db_default=False, default=False)),
                ("teach", models.BooleanField(db_default=True, default=True)),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("admin", "Admin"), ("reviewer", "Reviewer"), ("annotator", "Annotator")],
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="memberships", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="memberships", to="annotate.project"),
                ),
                ("is_active", models.BooleanField(db_default=True, default=True)),
                (
                    "tags",
                    ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        db_default=models.Value([], ArrayField(base_field=models.TextField(), size=None)),
                        default=list,
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["admin", "reviewer", "annotator"])),
                        name="membership_role_known",
                    ),
                    models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Criterion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.SlugField(max_length=60)),
                ("version", models.PositiveIntegerField(default=1)),
                ("is_current", models.BooleanField(default=True)),
                ("position", models.PositiveIntegerField(default=0)),
                ("name", models.CharField(max_length=120)),
                (
                    "unit",
                    models.CharField(
                        choices=[
                            ("claim", "Claim"),
                            ("context", "Context"),
                            ("fact", "Key fact"),
                            ("entity", "Entity"),
                            ("answer", "Answer"),
                            ("sample", "Sample"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "scale",
                    models.CharField(
                        choices=[
                            ("binary", "Binary"),
                            ("nominal", "Nominal"),
                            ("ordinal", "Ordinal"),
                            ("interval", "Interval"),
                        ],
                        max_length=10,
                    ),
                ),
                ("prompt", models.TextField()),
                ("help", models.TextField(blank=True)),
                ("options", models.JSONField(default=list)),
                ("passes", models.JSONField(default=list)),
                ("required", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="criteria", to="annotate.project"),
                ),
                ("cant_tell", models.BooleanField(db_default=True, default=True)),
            ],
            options={
                "ordering": ["position", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "key", "version"), name="criterion_version_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("project", "key"),
                        name="criterion_one_current_version",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("unit__in", ["claim", "context", "fact", "entity", "answer", "sample"])),
                        name="criterion_unit_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("scale__in", ["binary", "nominal", "ordinal", "interval"])),
                        name="criterion_scale_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("samples", "Samples"), ("labels", "Labels"), ("scores", "Judge scores")],
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("uploaded", "Uploaded"),
                            ("waiting", "Waiting for the worker"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="uploaded",
                        max_length=10,
                    ),
                ),
                ("file_name", models.CharField(max_length=255)),
                ("file_format", models.CharField(max_length=10)),
                ("stored_as", models.CharField(blank=True, max_length=100)),
                ("size", models.BigIntegerField(default=0)),
                ("mapping", models.JSONField(default=dict)),
                ("result", models.JSONField(default=dict)),
                ("errors", models.JSONField(default=list)),
                ("error_count", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="imports", to="annotate.project")),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["samples", "labels", "scores"])), name="import_kind_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["uploaded", "waiting", "running", "done", "failed"])),
                        name="import_status_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rater",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="raters", to="annotate.project")),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="raters",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="rater_name_once_per_project"),
                    models.UniqueConstraint(fields=("project", "user"), name="rater_once_per_member"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("file_format", models.CharField(max_length=10)),
                ("filters", models.JSONField(default=dict)),
                ("manifest", models.JSONField(default=dict)),
                ("stored_as", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="releases", to="annotate.project"),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="release_number_once_per_project")
                ],
            },
        ),
        migrations.CreateModel(
            name="Sample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_id", models.TextField()),
                ("question", models.TextField()),
                ("answer", models.TextField()),
                ("answer_b", models.TextField(blank=True, null=True)),
                ("reference", models.TextField(blank=True, null=True)),
                ("contexts", models.JSONField(default=list)),
                ("claims", models.JSONField(default=list)),
                (
                    "claims_source",
                    models.CharField(
                        choices=[
                            ("file", "Given in the file"),
                            ("split", "Split by sentence"),
                            ("labels", "Listed by imported labels"),
                            ("edited", "Edited here"),
                        ],
                        default="file",
                        max_length=10,
                    ),
                ),
                ("key_facts", models.JSONField(default=list)),
                ("entities", models.JSONField(default=list)),
                ("retrieved_doc_ids", ArrayField(base_field=models.TextField(), default=list, size=None)),
                ("relevant_doc_ids", ArrayField(base_field=models.TextField(), default=list, size=None)),
                ("pipeline_version", models.TextField(blank=True, default="")),
                ("metadata", models.JSONField(default=dict)),
                ("content_hash", models.BinaryField(max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="samples", to="annotate.project")),
                ("claims_revision", models.PositiveIntegerField(db_default=1, default=1)),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "external_id"), name="sample_external_id_once_per_project"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                (
                    "status",
                    models.CharField(
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
                ("overlap", models.PositiveSmallIntegerField(default=2)),
                ("selection", models.JSONField(default=dict)),
                ("seed", models.BigIntegerField()),
                ("due_date", models.DateField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="batches", to="annotate.project")),
                (
                    "consensus",
                    models.CharField(
                        choices=[("majority", "Majority"), ("unanimous", "Unanimous"), ("threshold", "Threshold")],
                        db_default="majority",
                        default="majority",
                        max_length=10,
                    ),
                ),
                ("gold_feedback", models.BooleanField(db_default=False, default=False)),
                ("gold_share", models.FloatField(db_default=0, default=0)),
                ("lease_minutes", models.PositiveSmallIntegerField(db_default=30, default=30)),
                ("overlap_share", models.FloatField(db_default=1, default=1)),
                (
                    "relabels",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="relabelled_by",
                        to="annotate.criterion",
                    ),
                ),
                ("repeat_share", models.FloatField(db_default=0, default=0)),
                (
                    "strategy",
                    models.CharField(
                        choices=[("balanced", "Balanced"), ("pull", "Queue")],
                        db_default="balanced",
                        default="balanced",
                        max_length=10,
                    ),
                ),
                ("tag_key", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("settle_share", models.FloatField(blank=True, null=True)),
                ("settle_votes", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("annotators", models.ManyToManyField(related_name="batches", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "batches",
                "ordering": ["-number"],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("overlap__gte", 1)), name="batch_overlap_at_least_one"),
                    models.UniqueConstraint(fields=("project", "number"), name="batch_number_once_per_project"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["draft", "open", "paused", "adjudicating", "closed"])),
                        name="batch_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("overlap_share__gte", 0), ("overlap_share__lte", 1)),
                        name="batch_overlap_share_is_share",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gold_share__gte", 0),
                            ("gold_share__lte", 1),
                            ("repeat_share__gte", 0),
                            ("repeat_share__lte", 1),
                        ),
                        name="batch_gold_and_repeats_are_shares",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("strategy__in", ["balanced", "pull"])), name="batch_strategy_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("lease_minutes__gte", 1)), name="batch_lease_at_least_a_minute"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("consensus__in", ["majority", "unanimous", "threshold"])),
                        name="batch_consensus_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("consensus", "threshold"),
                                ("settle_share__gt", 0.5),
                                ("settle_share__isnull", False),
                                ("settle_share__lte", 1),
                                ("settle_votes__gte", 1),
                                ("settle_votes__isnull", False),
                            ),
                            models.Q(
                                models.Q(("consensus", "threshold"), _negated=True),
                                ("settle_share__isnull", True),
                                ("settle_votes__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="batch_threshold_of_more_than_half",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BatchCriterion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "batch",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="batch_criteria", to="annotate.batch"),
                ),
                ("criterion", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="annotate.criterion")),
            ],
            options={
                "ordering": ["position"],
                "constraints": [models.UniqueConstraint(fields=("batch", "criterion"), name="batch_criterion_once")],
            },
        ),
        migrations.CreateModel(
            name="BatchSample",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "batch",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="batch_samples", to="annotate.batch"),
                ),
                ("sample", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="annotate.sample")),
                ("probability", models.FloatField(blank=True, null=True)),
                ("stratum", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("overlap", models.PositiveSmallIntegerField(db_default=1, default=1)),
                ("tag", models.TextField(blank=True, db_default="", default="")),
            ],
            options={
                "ordering": ["position"],
                "constraints": [
                    models.UniqueConstraint(fields=("batch", "sample"), name="batch_sample_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("probability__isnull", True), ("stratum__isnull", True)),
                            models.Q(
                                ("probability__gt", 0),
                                ("probability__isnull", False),
                                ("probability__lte", 1),
                                ("stratum__gte", 1),
                                ("stratum__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="batch_sample_chance_with_stratum",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("overlap__gte", 1)), name="batch_sample_overlap_at_least_one"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("in_progress", "In progress"),
                            ("submitted", "Submitted"),
                            ("returned", "Sent back"),
                            ("skipped", "Skipped"),
                            ("released", "Reassigned"),
                        ],
                        default="pending",
                        max_length=12,
                    ),
                ),
                ("skip_reason", models.TextField(blank=True)),
                ("active_seconds", models.PositiveIntegerField(default=0)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotator",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="tasks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="tasks", to="annotate.batch"
                    ),
                ),
                ("sample", models.ForeignKey(on_delete=models.PROTECT, related_name="tasks", to="annotate.sample")),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "purpose",
                    models.CharField(
                        choices=[("label", "Label"), ("gold", "Known answer"), ("repeat", "Repeat")],
                        db_default="label",
                        default="label",
                        max_length=6,
                    ),
                ),
                ("return_message", models.TextField(blank=True, db_default="", default="")),
                (
                    "returned_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("tag", models.TextField(blank=True, db_default="", default="")),
            ],
            options={
                "ordering": ["position", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("status__in", ["pending", "in_progress", "returned"])),
                        fields=["annotator", "batch", "position"],
                        name="task_open_by_annotator",
                    ),
                    models.Index(
                        condition=models.Q(("annotator__isnull", True), ("status", "pending")),
                        fields=["batch", "tag", "position"],
                        name="task_free_by_batch",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("lease_expires_at__isnull", False), ("status__in", ["pending", "in_progress", "returned"])
                        ),
                        fields=["batch", "lease_expires_at"],
                        name="task_leased_by_batch",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("status__in", ["pending", "in_progress", "returned"]),
                            models.Q(("return_message", ""), _negated=True),
                        ),
                        fields=["annotator", "batch", "position"],
                        name="task_returned_by_annotator",
                    ),
                    models.Index(
                        condition=models.Q(("annotator__isnull", False)),
                        fields=["annotator", "batch", "tag", "position"],
                        name="task_by_annotator",
                    ),
                    models.Index(fields=["batch", "position"], name="task_by_batch"),
                    models.Index(
                        condition=models.Q(
                            ("status__in", ["pending", "in_progress", "returned"]),
                            models.Q(("return_message", ""), _negated=True),
                        ),
                        fields=["sample"],
                        name="task_sent_back",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "skipped"), _negated=True),
                            models.Q(("skip_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="task_skipped_with_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "submitted"), _negated=True),
                            ("submitted_at__isnull", False),
                            _connector="OR",
                        ),
                        name="task_submitted_has_time",
                    ),
                    models.UniqueConstraint(
                        fields=("batch", "sample", "annotator", "purpose"), name="task_once_per_annotator"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["label", "gold", "repeat"])), name="task_purpose_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("annotator__isnull", False),
                            models.Q(("purpose", "label"), ("status", "pending")),
                            _connector="OR",
                        ),
                        name="task_begun_by_someone",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "returned"), _negated=True),
                            models.Q(("return_message", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="task_returned_with_message",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["pending", "in_progress", "submitted", "returned", "skipped", "released"])
                        ),
                        name="task_status_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=20)),
                ("value", models.JSONField(blank=True, null=True)),
                ("comment", models.TextField(blank=True)),
                ("evidence", models.JSONField(default=list)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField(auto_now=True, db_default=Now())),
                (
                    "criterion",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="labels", to="annotate.criterion"
                    ),
                ),
                ("rater", models.ForeignKey(on_delete=models.PROTECT, related_name="labels", to="annotate.rater")),
                ("sample", models.ForeignKey(on_delete=models.PROTECT, related_name="labels", to="annotate.sample")),
                (
                    "task",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="labels",
                        to="annotate.task",
                    ),
                ),
                ("active_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("cant_tell", models.TextField(blank=True, db_default="")),
            ],
            options={
                "indexes": [models.Index(fields=["criterion", "sample", "unit"], name="label_by_criterion_unit")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("task__isnull", False)),
                        fields=("task", "unit", "criterion"),
                        name="label_once_per_task",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("task__isnull", True)),
                        fields=("rater", "sample", "unit", "criterion"),
                        name="label_imported_once_per_rater",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$")
                        ),
                        name="label_unit_is_address",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("revision__gte", 1)), name="label_revision_at_least_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("cant_tell", ""), ("value__isnull", True), _connector="OR"),
                        name="label_value_or_cant_tell",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LabelEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("value", models.JSONField(blank=True, null=True)),
                ("comment", models.TextField(blank=True)),
                ("evidence", models.JSONField(default=list)),
                ("idempotency_key", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "label",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="events", to="annotate.label"
                    ),
                ),
                ("cant_tell", models.TextField(blank=True, db_default="")),
                (
                    "carried_from",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="+",
                        to="annotate.label",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("label", "revision"), name="label_event_revision_once")
                ],
                "indexes": [models.Index(fields=["-created_at", "-id"], name="label_event_by_time")],
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=20)),
                (
                    "state",
                    models.CharField(
                        choices=[("settled", "Resolved"), ("disputed", "Disputed"), ("reopened", "Reopened")],
                        max_length=10,
                    ),
                ),
                ("value", models.JSONField(blank=True, null=True)),
                (
                    "method",
                    models.CharField(
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
                ("votes", models.JSONField(default=list)),
                ("confidence", models.FloatField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "batch",
                    models.ForeignKey(
                        null=True, on_delete=models.PROTECT, related_name="verdicts", to="annotate.batch"
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="verdicts", to="annotate.criterion"),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="verdicts", to="annotate.sample"
                    ),
                ),
                ("agreement", models.FloatField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("decided_votes", models.JSONField(blank=True, null=True)),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            models.Q(("state", "settled"), _negated=True),
                            ("method__in", ["adjudicated", "accepted", "dawid_skene"]),
                            _connector="OR",
                        ),
                        fields=["criterion", "sample"],
                        include=("unit", "state", "agreement", "batch", "id"),
                        name="verdict_for_people",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("sample", "unit", "criterion"), name="verdict_once_per_unit"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$")
                        ),
                        name="verdict_unit_is_address",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["settled", "disputed", "reopened"])),
                        name="verdict_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("method", ""), ("state", "disputed"), ("value__isnull", True)),
                            models.Q(
                                models.Q(("state", "disputed"), _negated=True),
                                ("value__isnull", False),
                                models.Q(("method", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="verdict_has_value_unless_disputed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("method__in", ["adjudicated", "accepted"]), _negated=True),
                            ("decided_by__isnull", False),
                            _connector="OR",
                        ),
                        name="verdict_adjudicated_by_someone",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("approved_at__isnull", True), ("approved_by__isnull", True)),
                            models.Q(
                                ("approved_at__isnull", False),
                                ("approved_by__isnull", False),
                                ("method__in", ["unanimous", "majority"]),
                                ("state", "settled"),
                            ),
                            _connector="OR",
                        ),
                        name="verdict_approved_as_ruled",
                    ),
                ],
            },
        ),
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
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=models.PROTECT,
                        related_name="audit_entries",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["project", "-created_at", "-id"], name="audit_by_project_and_time")]
            },
        ),
        migrations.CreateModel(
            name="ClaimEdit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("change", models.JSONField()),
                ("claims", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
                ("actor", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                (
                    "sample",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="claim_edits", to="annotate.sample"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("sample", "revision"), name="claim_edit_revision_once")]
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
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="flags", to="annotate.project")),
                (
                    "raised_by",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("sample", models.ForeignKey(on_delete=models.PROTECT, related_name="flags", to="annotate.sample")),
                (
                    "task",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.SET_NULL, related_name="flags", to="annotate.task"
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
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="gold_answers", to="annotate.criterion"),
                ),
                (
                    "sample",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="gold_answers", to="annotate.sample"),
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
                ]
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
                ("tags", ArrayField(base_field=models.TextField(), blank=True, default=list, size=None)),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("max_uses", models.PositiveSmallIntegerField(default=1)),
                ("uses", models.PositiveSmallIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="invites", to="annotate.project")),
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
                ]
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
                ("created_at", models.DateTimeField(auto_now_add=True, db_default=Now())),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="events", to="annotate.verdict"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["verdict", "revision"], name="verdict_event_by_verdict"),
                    models.Index(fields=["-created_at", "-id"], name="verdict_event_by_time"),
                ]
            },
        ),
        migrations.CreateModel(
            name="LessonRead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("verdict", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="annotate.verdict")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("user", "verdict"), name="lesson_read_once")]},
        ),
        migrations.AddField(
            model_name="project",
            name="members",
            field=models.ManyToManyField(
                related_name="projects", through="annotate.Membership", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="criteria",
            field=models.ManyToManyField(
                related_name="batches", through="annotate.BatchCriterion", to="annotate.criterion"
            ),
        ),
        migrations.AddField(
            model_name="batch",
            name="samples",
            field=models.ManyToManyField(related_name="batches", through="annotate.BatchSample", to="annotate.sample"),
        ),
        migrations.RunSQL(_ROWS_STAY_INLINE, _ROWS_AS_EVER),
        migrations.RunSQL(_SHARES, migrations.RunSQL.noop),
        migrations.RunSQL(_LOG_VERDICTS, _NO_LOG),
        migrations.RunSQL(_REFUSE, "DROP FUNCTION annotate_refuse_rewriting();"),
        *[migrations.RunSQL(there, back) for there, back in _TRIGGERS],
    ]
