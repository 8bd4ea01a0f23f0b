"""What annotators are told about a project, version by version."""

from django.db import models
from django.db.models import Q


class GuidelineVersion(models.Model):
    """One saved text of a project's guidelines. Append-only; the newest is also `Project.guidelines`.

    note: what changed, as its author put it; "" for a first version, and where nothing was said.
    dispute: the verdict that a reviewer was looking at when they saw that the guidelines needed it.
    """

    project = models.ForeignKey(
        "annotate.Project", on_delete=models.PROTECT, related_name="guideline_versions", db_index=False
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    note = models.TextField(blank=True)
    dispute = models.ForeignKey(
        "annotate.Verdict", on_delete=models.PROTECT, related_name="guideline_versions", null=True, blank=True
    )
    # None: the command line, or before versions were kept.
    author = models.ForeignKey("annotate.User", on_delete=models.PROTECT, related_name="+", null=True, blank=True)
    # None: the text stood there when versions began to be kept, and no one knows since when.
    created_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            # Reader: the labelling loop, which asks for the newest.
            models.UniqueConstraint(fields=["project", "number"], name="guideline_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="guideline_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"guidelines {self.number} of {self.project_id}"


class GuidelineImage(models.Model):
    """A picture that versions of a project's guidelines may name (decision 48). Never changed.

    name: what its content is named by, so that an address always has the same picture.
    """

    project = models.ForeignKey(
        "annotate.Project", on_delete=models.PROTECT, related_name="guideline_images", db_index=False
    )
    name = models.CharField(max_length=32)
    content = models.BinaryField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # Reader: pages, which ask for those that a text names.
            models.UniqueConstraint(fields=["project", "name"], name="guideline_image_once"),
        ]

    def __str__(self) -> str:
        return f"image {self.name} of {self.project_id}"
