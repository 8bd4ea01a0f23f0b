"""Where a system can be asked, and runs that ask it the questions of a test set."""

from django.db import models
from django.db.models import Q

from judges.models import Endpoint, RunState
from systems.models.question import FrozenSet, QuestionRevision
from systems.models.version import ResponseStatus, SystemVersion


class Method(models.TextChoices):
    POST = "POST", "POST"
    PUT = "PUT", "PUT"
    GET = "GET", "GET"


class Target(models.Model):
    """How a system is asked over HTTP: where, what is sent, and where in the reply what stands.

    version: whose own it is; None: of every version that has none. path: behind the base URL of the endpoint, which has
    the key and the limits. headers: {name: value}. body: any JSON. In all three {{places}} stand for what is asked
    (systems.targets.template). reply: {what: JSON pointer} (systems.targets.pointers).
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="targets")
    version = models.OneToOneField(
        SystemVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="target"
    )
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="targets")
    method = models.CharField(max_length=4, choices=Method, default=Method.POST)
    path = models.TextField(blank=True, default="")
    headers = models.JSONField(default=dict)
    body = models.JSONField(null=True)
    reply = models.JSONField(default=dict)
    # Counts the changes: what has it open notices one by it.
    revision = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=Q(version__isnull=True), name="target_one_for_all_versions"
            ),
            models.CheckConstraint(condition=Q(method__in=Method.values), name="target_method_known"),
        ]

    def __str__(self) -> str:
        return f"target of {self.version_id or self.project_id}"


class TargetRun(models.Model):
    """A version is asked the questions of a test set, each `repeats` times.

    only_failed: what failed before is asked again, and nothing else; otherwise what has no response yet. planned: how
    many that were when it started. budget: in the currency of the prices; None: no limit. most_requests: likewise.
    requests: how many went out. cost: of the replies that this run paid for; unpriced: of how many it isn't known.
    stop_code, stop_message: why it stopped by itself.
    """

    version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="target_runs")
    frozen_set = models.ForeignKey(FrozenSet, on_delete=models.PROTECT, related_name="target_runs")
    repeats = models.PositiveSmallIntegerField(default=1)
    only_failed = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=RunState, default=RunState.RUNNING)
    planned = models.PositiveIntegerField(default=0)
    budget = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    most_requests = models.PositiveIntegerField(null=True, blank=True)
    requests = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=9, default=0)
    unpriced = models.PositiveIntegerField(default=0)
    stop_code = models.CharField(max_length=40, blank=True, default="")
    stop_message = models.TextField(blank=True, default="")
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Started twice, it is one.
            models.UniqueConstraint(
                fields=["version", "frozen_set"], condition=Q(state=RunState.RUNNING), name="target_run_once_at_a_time"
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="target_run_state_known"),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.version_id}"


class TargetReply(models.Model):
    """What the target replied to one request, whole but for the endpoint's key; what is no JSON is cut. Written as it
    comes, so that nothing is asked again that was answered.

    key: SHA-256 of the question, its repeat and everything that was sent (systems.targets.asking). problem: why it
    can't be read; empty where it can. seconds: it took.
    """

    version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="target_replies", db_index=False)
    key = models.CharField(max_length=64)
    text = models.TextField()
    problem = models.TextField(blank=True, default="")
    seconds = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "key"], name="target_reply_once_per_question"),
        ]

    def __str__(self) -> str:
        return f"reply {self.pk}"


class TargetAsk(models.Model):
    """What came of one question in a run. detail: why it failed. reply: None where none came. is_kept: it was there
    from earlier."""

    run = models.ForeignKey(TargetRun, on_delete=models.PROTECT, related_name="asks", db_index=False)
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="+")
    repeat = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=6, choices=ResponseStatus)
    detail = models.TextField(blank=True, default="")
    reply = models.ForeignKey(TargetReply, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    is_kept = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "revision", "repeat"], name="target_ask_once_per_run"),
            models.CheckConstraint(condition=Q(status__in=ResponseStatus.values), name="target_ask_status_known"),
        ]

    def __str__(self) -> str:
        return f"{self.revision_id} ({self.repeat}) in run {self.run_id}"
