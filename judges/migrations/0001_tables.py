from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("judges", "0001_initial"),
        ("judges", "0002_split_members"),
        ("judges", "0003_looks_certificates_evidence"),
        ("judges", "0004_judges_run"),
        ("judges", "0005_runs_are_laid"),
        ("judges", "0006_trials"),
        ("judges", "0007_canaries_and_claims"),
        ("judges", "0008_asks_written_once"),
        ("judges", "0009_fewer_indexes_of_asks"),
    ]

    initial = True

    dependencies = [("annotate", "0001_tables"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Judge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("imported", "Imported"),
                            ("llm", "LLM"),
                            ("ragas", "RAGAS"),
                            ("lexical", "Lexical"),
                            ("embedding", "Embedding"),
                            ("nli", "NLI"),
                            ("ensemble", "Ensemble"),
                            ("composite", "Composite"),
                        ],
                        default="imported",
                        max_length=10,
                    ),
                ),
                ("description", models.TextField(blank=True)),
                ("higher_is_better", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="judges", to="annotate.project")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="judge_name_once_per_project"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                ["imported", "llm", "ragas", "lexical", "embedding", "nli", "ensemble", "composite"],
                            )
                        ),
                        name="judge_kind_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlignmentReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("parameters", models.JSONField(default=dict)),
                ("result", models.JSONField(default=dict)),
                ("plots", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="reports", to="annotate.criterion"),
                ),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="reports", to="annotate.project")),
                ("evidence", models.BinaryField()),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="report_number_once_per_project"),
                    models.UniqueConstraint(
                        fields=("criterion", "fingerprint"), name="report_once_per_criterion_and_data"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SplitMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_dev", models.BooleanField()),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="split_members", to="annotate.criterion"),
                ),
                (
                    "sample",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="split_members", to="annotate.sample"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("criterion", "sample"), name="split_member_once_per_criterion")
                ]
            },
        ),
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=60)),
                ("base_url", models.TextField()),
                (
                    "key_source",
                    models.CharField(
                        choices=[
                            ("none", "No key"),
                            ("environment", "From the environment"),
                            ("stored", "Stored here, encrypted"),
                        ],
                        default="none",
                        max_length=12,
                    ),
                ),
                ("key_variable", models.CharField(blank=True, default="", max_length=100)),
                ("key_encrypted", models.BinaryField(blank=True, null=True)),
                ("key_last4", models.CharField(blank=True, default="", max_length=4)),
                ("concurrency", models.PositiveSmallIntegerField(default=8)),
                ("requests_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("timeout_seconds", models.PositiveSmallIntegerField(default=60)),
                ("price_in", models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True)),
                ("price_out", models.DecimalField(blank=True, decimal_places=6, max_digits=12, null=True)),
                ("currency", models.CharField(default="USD", max_length=3)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="endpoints", to="annotate.project"),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="endpoint_name_once_per_project"),
                    models.CheckConstraint(
                        condition=models.Q(("key_source__in", ["none", "environment", "stored"])),
                        name="endpoint_key_source_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("key_encrypted__isnull", True), ("key_source", "none"), ("key_variable", "")),
                            models.Q(("key_encrypted__isnull", False), ("key_source", "stored"), ("key_variable", "")),
                            models.Q(
                                ("key_encrypted__isnull", True),
                                ("key_source", "environment"),
                                ("key_variable__startswith", "JUDGE_KEY_"),
                            ),
                            _connector="OR",
                        ),
                        name="endpoint_has_one_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("concurrency__gte", 1), ("concurrency__lte", 128)),
                        name="endpoint_concurrency_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("timeout_seconds__gte", 1), ("timeout_seconds__lte", 120)),
                        name="endpoint_timeout_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgeVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("label", models.CharField(max_length=200)),
                ("config", models.JSONField(default=dict)),
                ("content_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("judge", models.ForeignKey(on_delete=models.PROTECT, related_name="versions", to="judges.judge")),
                (
                    "based_on",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to="judges.judgeversion"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("trial", "Experimental"), ("kept", "Active"), ("dropped", "Discarded")],
                        default="kept",
                        max_length=8,
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="versions", to="judges.endpoint"
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(fields=("judge", "number"), name="judge_version_number_once"),
                    models.UniqueConstraint(fields=("judge", "content_hash"), name="judge_version_content_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["trial", "kept", "dropped"])),
                        name="judge_version_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "import_job",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="runs", to="annotate.importjob"
                    ),
                ),
                ("version", models.ForeignKey(on_delete=models.PROTECT, related_name="runs", to="judges.judgeversion")),
                ("budget", models.DecimalField(blank=True, decimal_places=6, max_digits=14, null=True)),
                ("cost", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("first_repeat", models.PositiveSmallIntegerField(default=0)),
                ("is_fresh", models.BooleanField(default=False)),
                ("planned", models.PositiveIntegerField(default=0)),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("import", "Import"),
                            ("scores", "Scores"),
                            ("trial", "Trial"),
                            ("canaries", "Prompt-injection test"),
                            ("claims", "Claim proposals"),
                        ],
                        default="import",
                        max_length=8,
                    ),
                ),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                ("scope", models.JSONField(default=dict)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("stopped", "Stopped"),
                            ("cancelled", "Cancelled"),
                            ("done", "Done"),
                        ],
                        default="done",
                        max_length=10,
                    ),
                ),
                ("stop_code", models.CharField(blank=True, default="", max_length=40)),
                ("stop_message", models.TextField(blank=True, default="")),
                ("tokens_in", models.PositiveBigIntegerField(default=0)),
                ("tokens_out", models.PositiveBigIntegerField(default=0)),
                ("unpriced", models.PositiveIntegerField(default=0)),
                ("is_laid", models.BooleanField(db_default=True, default=True)),
                ("laid_to", models.BigIntegerField(db_default=0, default=0)),
                ("per_second", models.FloatField(blank=True, null=True)),
                ("worked_at", models.DateTimeField(blank=True, null=True)),
                ("terms", models.JSONField(db_default={}, default=dict)),
                ("expected", models.PositiveIntegerField(blank=True, null=True)),
                ("in_hand_to", models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "running")), fields=["id"], name="run_under_way")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["running", "paused", "stopped", "cancelled", "done"])),
                        name="run_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("purpose", "import"), _negated=True), ("state", "done"), _connector="OR"
                        ),
                        name="run_import_is_done",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ["import", "scores", "trial", "canaries", "claims"])),
                        name="run_purpose_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=20)),
                ("dimension", models.CharField(max_length=120)),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("ok", "OK"),
                            ("refused", "Refused"),
                            ("parse_error", "Invalid reply"),
                            ("truncated", "Cut off"),
                            ("timeout", "Timed out"),
                            ("error", "Failed"),
                        ],
                        default="ok",
                        max_length=12,
                    ),
                ),
                ("number", models.FloatField(blank=True, null=True)),
                ("label", models.TextField(blank=True, null=True)),
                ("rationale", models.TextField(blank=True, default="")),
                ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="scores", to="judges.run")),
                ("sample", models.ForeignKey(on_delete=models.PROTECT, related_name="scores", to="annotate.sample")),
                (
                    "version",
                    models.ForeignKey(
                        db_index=False, on_delete=models.PROTECT, related_name="scores", to="judges.judgeversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("version", "dimension", "sample", "unit", "repeat"),
                        name="score_once_per_unit_and_repeat",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$")
                        ),
                        name="score_unit_is_address",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("label__isnull", True), ("number__isnull", False), ("status", "ok")),
                            models.Q(("label__isnull", False), ("number__isnull", True), ("status", "ok")),
                            models.Q(
                                models.Q(("status", "ok"), _negated=True),
                                ("label__isnull", True),
                                ("number__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="score_has_one_value_if_ok",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ["ok", "refused", "parse_error", "truncated", "timeout", "error"])
                        ),
                        name="score_status_known",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("dimension", models.CharField(max_length=120)),
                ("number", models.PositiveIntegerField()),
                ("level", models.FloatField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("result", models.JSONField()),
                ("samples", models.JSONField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="looks", to="annotate.criterion"),
                ),
                ("judge", models.ForeignKey(on_delete=models.PROTECT, related_name="looks", to="judges.judge")),
                (
                    "version",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="looks", to="judges.judgeversion"),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("criterion", "judge", "number"), name="look_number_once"),
                    models.CheckConstraint(
                        condition=models.Q(("level__gt", 0), ("level__lt", 1)), name="look_level_is_share"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Certificate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("judge_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="certificates", to="annotate.project"),
                ),
                ("look", models.OneToOneField(on_delete=models.PROTECT, related_name="certificate", to="judges.look")),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="certificate_number_once_per_project")
                ],
            },
        ),
        migrations.CreateModel(
            name="Ask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=20)),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("leased", "In progress"),
                            ("done", "Done"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("fence", models.PositiveIntegerField(default=0)),
                ("lost", models.PositiveSmallIntegerField(default=0)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("status", models.CharField(blank=True, default="", max_length=12)),
                ("detail", models.TextField(blank=True, default="")),
                ("is_cached", models.BooleanField(default=False)),
                ("replies", ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                (
                    "run",
                    models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="asks", to="judges.run"),
                ),
                (
                    "sample",
                    models.ForeignKey(db_index=False, on_delete=models.PROTECT, related_name="+", to="annotate.sample"),
                ),
                ("outcome", models.JSONField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["run", "id"], name="ask_waiting"),
                    models.Index(condition=models.Q(("state", "leased")), fields=["run"], name="ask_in_hand"),
                    models.Index(
                        condition=models.Q(("state", "done"), models.Q(("status", "ok"), _negated=True)),
                        fields=["run", "id"],
                        name="ask_failed",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "sample", "unit", "repeat"), name="ask_once_per_run"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unit__regex", "^(answer|sample|(claim|context|fact|entity):(0|[1-9][0-9]{0,5}))$")
                        ),
                        name="ask_unit_is_address",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "leased", "done", "cancelled"])),
                        name="ask_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("leased_until__isnull", False), ("state", "leased")),
                            models.Q(models.Q(("state", "leased"), _negated=True), ("leased_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="ask_lease_has_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64)),
                ("body", models.JSONField()),
                ("model", models.TextField(blank=True, default="")),
                ("tokens_in", models.PositiveIntegerField(blank=True, null=True)),
                ("tokens_out", models.PositiveIntegerField(blank=True, null=True)),
                ("cost", models.DecimalField(blank=True, decimal_places=9, max_digits=18, null=True)),
                ("latency", models.FloatField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("project", models.ForeignKey(on_delete=models.PROTECT, related_name="replies", to="annotate.project")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "key"), name="reply_once_per_question"),
                    models.CheckConstraint(condition=models.Q(("latency__gte", 0)), name="reply_latency_not_negative"),
                ]
            },
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("dimension", models.CharField(max_length=120)),
                ("seed", models.PositiveIntegerField()),
                ("wanted", models.PositiveIntegerField()),
                ("samples", ArrayField(base_field=models.TextField(), size=None)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "base",
                    models.ForeignKey(
                        on_delete=models.PROTECT, related_name="trials_against", to="judges.judgeversion"
                    ),
                ),
                (
                    "base_run",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="trials_as_base", to="judges.run"
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="trials", to="annotate.criterion"),
                ),
                ("run", models.ForeignKey(on_delete=models.PROTECT, related_name="trials", to="judges.run")),
                (
                    "version",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="trials", to="judges.judgeversion"),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("version", models.F("base")), _negated=True), name="trial_of_two_versions"
                    )
                ],
            },
        ),
    ]
