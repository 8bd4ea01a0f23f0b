import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("annotate", "0027_import_options"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="FrozenSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("manifest", models.JSONField()),
                ("sha256", models.CharField(max_length=64)),
                ("frozen_at", models.DateTimeField(auto_now_add=True)),
                (
                    "frozen_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("external_id", models.TextField()),
                ("group_key", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="questions", to="annotate.project"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="QuestionRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("reference", models.TextField(blank=True, null=True)),
                ("key_facts", models.JSONField(default=list)),
                ("entities", models.JSONField(default=list)),
                ("relevant", models.JSONField(default=dict)),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Not stated"),
                            ("simple", "Simple"),
                            ("reasoning", "Reasoning"),
                            ("multi_hop", "Multi-hop"),
                            ("conditional", "Conditional"),
                            ("unanswerable", "Unanswerable"),
                            ("conversation", "Conversation"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("difficulty", models.TextField(blank=True, default="")),
                ("category", models.TextField(blank=True, default="")),
                ("earlier_turns", models.JSONField(default=list)),
                ("metadata", models.JSONField(default=dict)),
                ("content_hash", models.BinaryField(max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="revisions", to="systems.question"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
            },
        ),
        migrations.CreateModel(
            name="FrozenQuestion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "frozen_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="questions", to="systems.frozenset"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="systems.questionrevision"
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.CreateModel(
            name="QuestionSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(db_index=False, max_length=60)),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="question_sets", to="annotate.project"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.AddField(
            model_name="frozenset",
            name="question_set",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="frozen", to="systems.questionset"
            ),
        ),
        migrations.CreateModel(
            name="QuestionSetEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="systems.question"
                    ),
                ),
                (
                    "question_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="systems.questionset"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="systems.questionrevision"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        migrations.AddField(
            model_name="questionset",
            name="revisions",
            field=models.ManyToManyField(
                related_name="+", through="systems.QuestionSetEntry", to="systems.questionrevision"
            ),
        ),
        migrations.CreateModel(
            name="Relevance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("document_id", models.TextField()),
                ("text_hash", models.BinaryField(default=b"", max_length=16)),
                ("grade", models.PositiveIntegerField()),
                (
                    "source",
                    models.CharField(choices=[("imported", "Imported"), ("people", "Annotators")], max_length=8),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="relevances", to="systems.question"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SystemVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.TextField()),
                ("configuration", models.JSONField(default=dict)),
                ("commit", models.TextField(blank=True, default="")),
                ("parent_commit", models.TextField(blank=True, default="")),
                ("price", models.JSONField(default=dict)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                ("is_baseline", models.BooleanField(default=False)),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="system_versions",
                        to="annotate.project",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Response",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("status", models.CharField(choices=[("ok", "Answered"), ("failed", "Failed")], max_length=6)),
                ("error", models.CharField(blank=True, default="", max_length=40)),
                ("error_text", models.TextField(blank=True, default="")),
                ("ranking", models.JSONField(blank=True, null=True)),
                ("latency_ms", models.FloatField(blank=True, null=True)),
                ("first_token_ms", models.FloatField(blank=True, null=True)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("cost", models.FloatField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="responses", to="systems.question"
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="responses",
                        to="systems.questionrevision",
                    ),
                ),
                (
                    "sample",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="response",
                        to="annotate.sample",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="responses",
                        to="systems.systemversion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(fields=("project", "external_id"), name="question_id_once_per_project"),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("external_id", ""), _negated=True), models.Q(("group_key", ""), _negated=True)
                ),
                name="question_has_id_and_group",
            ),
        ),
        migrations.AddConstraint(
            model_name="questionrevision",
            constraint=models.UniqueConstraint(fields=("question", "number"), name="question_revision_once"),
        ),
        migrations.AddConstraint(
            model_name="questionrevision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        ["", "simple", "reasoning", "multi_hop", "conditional", "unanswerable", "conversation"],
                    )
                ),
                name="question_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="questionrevision",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="question_has_a_text"
            ),
        ),
        migrations.AddConstraint(
            model_name="frozenquestion",
            constraint=models.UniqueConstraint(fields=("frozen_set", "position"), name="frozen_question_position_once"),
        ),
        migrations.AddConstraint(
            model_name="frozenquestion",
            constraint=models.UniqueConstraint(fields=("frozen_set", "revision"), name="frozen_question_once"),
        ),
        migrations.AddConstraint(
            model_name="frozenset",
            constraint=models.UniqueConstraint(fields=("question_set", "number"), name="frozen_set_number_once"),
        ),
        migrations.AddConstraint(
            model_name="frozenset",
            constraint=models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="frozen_set_number_from_1"),
        ),
        migrations.AddConstraint(
            model_name="questionsetentry",
            constraint=models.UniqueConstraint(fields=("question_set", "question"), name="question_once_per_set"),
        ),
        migrations.AddConstraint(
            model_name="questionset",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="question_set_name_once_per_project"),
        ),
        migrations.AddConstraint(
            model_name="relevance",
            constraint=models.UniqueConstraint(
                fields=("question", "document_id", "text_hash", "source"), name="relevance_once_per_source"
            ),
        ),
        migrations.AddConstraint(
            model_name="relevance",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ["imported", "people"])), name="relevance_source_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="systemversion",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="system_version_name_once_per_project"),
        ),
        migrations.AddConstraint(
            model_name="systemversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_baseline", True)), fields=("project",), name="system_version_one_baseline"
            ),
        ),
        migrations.AddConstraint(
            model_name="systemversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="system_version_has_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.UniqueConstraint(
                fields=("version", "question", "repeat"), name="response_once_per_repeat"
            ),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["ok", "failed"])), name="response_status_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("ranking__isnull", True),
                        ("sample__isnull", True),
                        ("status", "failed"),
                        models.Q(("error", ""), _negated=True),
                    ),
                    models.Q(
                        ("error", ""),
                        ("error_text", ""),
                        ("status", "ok"),
                        models.Q(("sample__isnull", False), ("ranking__isnull", False), _connector="OR"),
                    ),
                    _connector="OR",
                ),
                name="response_answered_or_failed",
            ),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("latency_ms__isnull", True),
                        models.Q(("latency_ms__gte", 0), ("latency_ms__lt", float("inf"))),
                        _connector="OR",
                    ),
                    models.Q(
                        ("first_token_ms__isnull", True),
                        models.Q(("first_token_ms__gte", 0), ("first_token_ms__lt", float("inf"))),
                        _connector="OR",
                    ),
                    models.Q(
                        ("cost__isnull", True), models.Q(("cost__gte", 0), ("cost__lt", float("inf"))), _connector="OR"
                    ),
                ),
                name="response_measures_finite",
            ),
        ),
        migrations.AddConstraint(
            model_name="response",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("latency_ms__isnull", True),
                    ("first_token_ms__isnull", True),
                    ("first_token_ms__lte", models.F("latency_ms")),
                    _connector="OR",
                ),
                name="response_first_token_before_last",
            ),
        ),
    ]
