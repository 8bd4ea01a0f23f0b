"""What came in and what went out: import jobs and numbered releases of ground truth; files that are to go."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class ImportKind(models.TextChoices):
    SAMPLES = "samples", _("Samples")
    LABELS = "labels", _("Labels")
    SCORES = "scores", _("Judge scores")
    QUESTIONS = "questions", _("Questions of a test set")
    QRELS = "qrels", _("Relevance judgements (TREC qrels)")
    RUN = "run", _("Rankings of a version (TREC run)")


class ImportStatus(models.TextChoices):
    ARRIVING = "arriving", _("Uploading")
    UPLOADED = "uploaded", _("Uploaded")
    WAITING = "waiting", _("Waiting for the worker")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class ImportJob(models.Model):
    """One file on its way in.

    mapping: {source column: field} as chosen by the person, or empty for the guessed one.
    options: what else is said of where the rows go, as the importer of the kind knows it (Importer.check_options).
    result: {"rows", "created", "unchanged"} when done.
    received, expires_at: of a file that comes in parts, how many bytes are there, and until when the next one is waited
    for (annotate.files.uploads); None of a file that came at once.
    errors: the first 100 of [{"row", "line", "field", "code", "message", "excerpt"}]; `error_count` is the total.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="imports")
    kind = models.CharField(max_length=10, choices=ImportKind)
    status = models.CharField(max_length=10, choices=ImportStatus, default=ImportStatus.UPLOADED)
    file_name = models.CharField(max_length=255)
    file_format = models.CharField(max_length=10)
    # Name in the storage (annotate.core.stored), chosen by us; empty once the file is no longer kept.
    stored_as = models.CharField(max_length=100, blank=True)
    size = models.BigIntegerField(default=0)
    received = models.BigIntegerField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    mapping = models.JSONField(default=dict)
    options = models.JSONField(default=dict, db_default={})
    result = models.JSONField(default=dict)
    errors = models.JSONField(default=list)
    error_count = models.PositiveIntegerField(default=0)
    # Processes that ended while they ran it.
    deaths = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            # The queue: few, however many there were.
            models.Index(fields=["created_at"], condition=Q(status__in=("waiting", "running")), name="imports_to_do"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=ImportKind.values), name="import_kind_known"),
            models.CheckConstraint(condition=Q(status__in=ImportStatus.values), name="import_status_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.file_name}"


class UploadPart(models.Model):
    """A part of the file of an import, which begins there at the byte `start`; until they are joined."""

    job = models.ForeignKey(ImportJob, on_delete=models.PROTECT, related_name="parts", db_index=False)
    start = models.BigIntegerField()
    stored_as = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "start"], name="upload_part_once_at_its_place"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} from {self.start}"


class Release(models.Model):
    """A numbered export of ground truth. The manifest says what is in it; the file never changes afterwards."""

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    file_format = models.CharField(max_length=10)
    filters = models.JSONField(default=dict)
    # {"rows", "verdicts", "criteria": {...}, "sha256", "agreement": {...}, …}
    manifest = models.JSONField(default=dict)
    # Name in the storage (annotate.core.stored), chosen by us.
    stored_as = models.CharField(max_length=100)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="release_number_once_per_project"),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} release {self.number}"


class LeftFile(models.Model):
    """A file that no row names, or none yet: one that is being stored, one of a deleted project, one that is no longer
    needed. From `remove_at` on the worker removes it. stored_as: its name in the storage."""

    stored_as = models.CharField(max_length=100)
    remove_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.stored_as
