"""Runs of judges: what they still have to ask, the replies, the scores, and trials."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotate.models.sample import UNIT_PATTERN
from judges.models.judge import Created, JudgeVersion


class ScoreStatus(models.TextChoices):
    OK = "ok", _("OK")
    REFUSED = "refused", _("Refused")
    PARSE_ERROR = "parse_error", _("Invalid reply")
    TRUNCATED = "truncated", _("Cut off")
    TIMEOUT = "timeout", _("Timed out")
    ERROR = "error", _("Failed")
    # No failure: a judge that knows when it is not sure enough has left the unit to people.
    LEFT = "left", _("Left to people")


#: Of scores that need not be asked for again.
ANSWERED = (ScoreStatus.OK, ScoreStatus.LEFT)


class Finding(models.TextChoices):
    """Why a score is what it is, where that is counted: without a valid citation it is 0; and why it has no confidence,
    though its judge is to have one."""

    NO_CITATION = "no_citation", _("No citation")
    INVALID_CITATION = "invalid_citation", _("Invalid citation")
    NO_LOGPROBS = "no_logprobs", _("No log-probabilities from the endpoint")
    OTHER_LOGPROBS = "other_logprobs", _("Log-probabilities don’t match the answer")


class Confidence(models.TextChoices):
    """Where a judge's confidence in an answer is from."""

    NONE = "none", _("None")
    LOGPROBS = "logprobs", _("Token log-probabilities")
    REPEATS = "repeats", _("Repeated answers")


class RunPurpose(models.TextChoices):
    IMPORT = "import", _("Import")
    SCORES = "scores", _("Scores")
    TRIAL = "trial", _("Trial")
    CANARIES = "canaries", _("Prompt-injection test")
    PROBES = "probes", _("Bias test")
    CLAIMS = "claims", _("Claim proposals")
    ALIGN = "align", _("Alignment")


# Runs that ask for something other than scores: none of their results ever counts as one.
WITHOUT_SCORES = (RunPurpose.CANARIES, RunPurpose.PROBES, RunPurpose.CLAIMS, RunPurpose.ALIGN)


class RunState(models.TextChoices):
    RUNNING = "running", _("Running")
    PAUSED = "paused", _("Paused")
    # By itself, for the reason in `stop_code`; it can be resumed like a paused one.
    STOPPED = "stopped", _("Stopped")
    CANCELLED = "cancelled", _("Cancelled")
    DONE = "done", _("Done")


class Run(Created):
    """A judge version over a set of samples; for imported scores, one file.

    scope: which samples, as judges.runs.laying reads it: {"all": true}, {"batch": 3}, {"samples": ["kb-1", …]},
    {"pipeline": "v7"}. repeats: how often each unit is asked about in this run, from repeat `first_repeat` on.
    terms: what its purpose has beside (judges.runs.purposes).
    is_fresh: replies that are kept from earlier are not used. planned: how many asks it has, as far as they are laid;
    expected: about how many it will have, when it was too large to be laid at its start. budget: in the endpoint's
    currency; None: no limit. cost, tokens_in, tokens_out: of the replies that this run paid for; unpriced: how many of
    them have no known price. unanswered: requests that may have been paid and brought no reply that is kept; at_most:
    what these can have cost, as far as it can be told.
    dropped: outcomes that could not be written, since their samples were gone.
    idempotency_key: of the request that started it; the same one again starts no other run. request_digest: SHA-256 of
    what that request asked for.
    is_laid: whether all of its asks are there; laid_to: until then, up to which sample (by its id) they are.
    in_hand_to: up to which sample a process works at samples whose asks are laid when they are done
    (judges.runs.local_work); None: no process does.
    stop_code, stop_message: why it stopped by itself; never anything that the endpoint sent.
    per_second: asks that became done, as the worker counted them over its last minute, at `worked_at`.
    """

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="runs")
    purpose = models.CharField(max_length=8, choices=RunPurpose, default=RunPurpose.IMPORT)
    state = models.CharField(max_length=10, choices=RunState, default=RunState.DONE)
    import_job = models.ForeignKey(
        "annotate.ImportJob", on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    scope = models.JSONField(default=dict)
    terms = models.JSONField(default=dict, db_default={})
    is_laid = models.BooleanField(default=True, db_default=True)
    laid_to = models.BigIntegerField(default=0, db_default=0)
    expected = models.PositiveIntegerField(null=True, blank=True)
    in_hand_to = models.BigIntegerField(null=True, blank=True)
    first_repeat = models.PositiveSmallIntegerField(default=0)
    repeats = models.PositiveSmallIntegerField(default=1)
    is_fresh = models.BooleanField(default=False)
    planned = models.PositiveIntegerField(default=0)
    budget = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    cost = models.DecimalField(max_digits=18, decimal_places=9, default=0)
    unpriced = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0, db_default=0)
    at_most = models.DecimalField(max_digits=18, decimal_places=9, default=0, db_default=0)
    dropped = models.PositiveIntegerField(default=0, db_default=0)
    idempotency_key = models.UUIDField(null=True, blank=True, unique=True)
    request_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    stop_code = models.CharField(max_length=40, blank=True, default="")
    stop_message = models.TextField(blank=True, default="")
    per_second = models.FloatField(null=True, blank=True)
    worked_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=RunPurpose.values), name="run_purpose_known"),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=~Q(purpose=RunPurpose.IMPORT) | Q(state=RunState.DONE),
                name="run_import_is_done",
            ),
        ]
        indexes = [
            # Read by the worker and the reconciler: the few that are under way among all that ever were.
            models.Index(fields=["id"], condition=Q(state=RunState.RUNNING), name="run_under_way"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"


class AskState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    LEASED = "leased", _("In progress")
    DONE = "done", _("Done")
    CANCELLED = "cancelled", _("Cancelled")


class Ask(models.Model):
    """One thing that a run has to ask: about one unit of a sample, once. The queue of record.

    unit: what is asked about; a judge that is asked about all claims at once has `answer` here, and scores of claims.
    fence: counts the leases (one that was laid as done has had one); only the holder of the latest one may write the
    result. lost: how often a worker died with it. tries: how often it was asked without an answer. due_at: not before.
    status, detail: the result, in the words of a score's status, and the reason when it failed. is_cached: nothing was
    asked, all replies were kept already. was_there: another run had brought all of its scores by then.
    outcome: in a run that brings no scores, the result that its purpose writes; None until then.
    """

    # Looked up by run, with the index of `ask_once_per_run`, and never by sample: each further index would have to be
    # updated when an ask is laid and when it is done.
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="asks", db_index=False)
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="+", db_index=False)
    unit = models.CharField(max_length=20)
    repeat = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=AskState, default=AskState.WAITING)
    fence = models.PositiveIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=12, blank=True, default="")
    detail = models.TextField(blank=True, default="")
    is_cached = models.BooleanField(default=False)
    was_there = models.BooleanField(default=False, db_default=False)
    replies = ArrayField(models.BigIntegerField(), default=list)
    outcome = models.JSONField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "sample", "unit", "repeat"], name="ask_once_per_run"),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="ask_unit_is_address"),
            models.CheckConstraint(condition=Q(state__in=AskState.values), name="ask_state_known"),
            models.CheckConstraint(
                condition=Q(state=AskState.LEASED, leased_until__isnull=False)
                | (~Q(state=AskState.LEASED) & Q(leased_until__isnull=True)),
                name="ask_lease_has_end",
            ),
        ]
        indexes = [
            # Read by the worker that takes the next ones, in the order in which they were laid.
            models.Index(fields=["run", "id"], condition=Q(state=AskState.WAITING), name="ask_waiting"),
            # Read when the asks of a process that died are freed.
            models.Index(fields=["run"], condition=Q(state=AskState.LEASED), name="ask_in_hand"),
            # Read by a run's page: few, as a rule.
            models.Index(
                fields=["run", "id"],
                condition=Q(state=AskState.DONE) & ~Q(status=ScoreStatus.OK),
                name="ask_failed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id} in run {self.run_id}"


class Reply(models.Model):
    """What a model answered to one request, whole, so that the same question isn't paid twice.

    key: SHA-256 of everything that was sent, and of the address (judges.endpoints.calls.key_of). latency: in seconds.
    cost: None when the price is unknown. body: {"text", "refusal", "finish_reason"}, with "logprobs" where they were
    given, or {"vectors"}; what could not be understood is kept too, under "raw" if it holds none of these.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="replies")
    key = models.CharField(max_length=64)
    body = models.JSONField()
    model = models.TextField(blank=True, default="")
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    latency = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="reply_once_per_question"),
            models.CheckConstraint(condition=Q(latency__gte=0), name="reply_latency_not_negative"),
        ]

    def __str__(self) -> str:
        return f"reply {self.pk}"


# Of a score, either way: squares and products of larger ones have no floating-point number.
LARGEST_SCORE = 1e100


class Score(models.Model):
    """The value a judge version gave a unit. `dimension` is a criterion's key, or the judge's own name for what it
    measures (`overall`), which can be compared with any criterion on the same kind of unit.

    A score that is not `ok` has neither number nor label: it is missing, never a value. finding: one of `Finding`, or
    empty. confidence: how probable the model's own log-probabilities make the value, 0 to 1; None: unknown.
    """

    # Looked up with the index of `score_once_per_unit_and_repeat`, which begins with it.
    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="scores", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="scores")
    sample = models.ForeignKey("annotate.Sample", on_delete=models.PROTECT, related_name="scores")
    unit = models.CharField(max_length=20)
    dimension = models.CharField(max_length=120)
    repeat = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=12, choices=ScoreStatus, default=ScoreStatus.OK)
    number = models.FloatField(null=True, blank=True)
    # For judges that answer with one of the criterion's options instead of a number.
    label = models.TextField(null=True, blank=True)
    rationale = models.TextField(blank=True, default="")
    finding = models.CharField(max_length=16, choices=Finding, blank=True, default="", db_default="")
    confidence = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "dimension", "sample", "unit", "repeat"], name="score_once_per_unit_and_repeat"
            ),
            models.CheckConstraint(condition=Q(unit__regex=UNIT_PATTERN), name="score_unit_is_address"),
            models.CheckConstraint(condition=Q(status__in=ScoreStatus.values), name="score_status_known"),
            models.CheckConstraint(
                condition=(
                    Q(status=ScoreStatus.OK, number__isnull=False, label__isnull=True)
                    | Q(status=ScoreStatus.OK, number__isnull=True, label__isnull=False)
                    | (~Q(status=ScoreStatus.OK) & Q(number__isnull=True, label__isnull=True))
                ),
                name="score_has_one_value_if_ok",
            ),
            models.CheckConstraint(
                condition=Q(finding="") | Q(finding__in=Finding.values, status=ScoreStatus.OK),
                name="score_finding_known",
            ),
            models.CheckConstraint(
                condition=Q(confidence__isnull=True) | Q(confidence__gte=0, confidence__lte=1, status=ScoreStatus.OK),
                name="score_confidence_is_share",
            ),
        ]
        indexes = [
            # Read by a run's page, which asks again every few seconds: few, as a rule.
            models.Index(fields=["run"], condition=~Q(finding=""), name="score_with_finding"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} of {self.sample_id}: {self.number if self.label is None else self.label}"


class Trial(Created):
    """One trial: the changed version, the one it was compared with, and the samples. Never changed; whether the version
    is kept or dropped is the version's own state.

    base: the version in use when the trial began. dimension: the name under which both score the criterion. samples:
    their own ids, drawn from dev by `seed`; wanted: how many were asked for. base_run: None when the base had already
    scored all of them. alignment, candidate: of which one the version is, and by what name; None and "" for one that a
    person made.
    """

    version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="trials")
    base = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="trials_against")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="trials")
    dimension = models.CharField(max_length=120)
    seed = models.PositiveIntegerField()
    wanted = models.PositiveIntegerField()
    samples = ArrayField(models.TextField())
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="trials")
    base_run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="trials_as_base")
    alignment = models.ForeignKey(
        "judges.Alignment", on_delete=models.PROTECT, null=True, blank=True, related_name="trials"
    )
    candidate = models.CharField(max_length=40, default="", blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(version=F("base")), name="trial_of_two_versions"),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk} of {self.version_id} against {self.base_id}"
