"""A project and what it asks: criteria with their scale and options."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Project(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=200)
    guidelines = models.TextField(blank=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="annotate.Membership", related_name="projects")
    # Seed of everything drawn by chance in the project (the dev/test division), so that figures can be made again.
    seed = models.BigIntegerField(default=20260901)
    # Reviewers see who said what; otherwise people are lettered, so that a name doesn't decide.
    show_names = models.BooleanField(default=False, db_default=False)
    # What the judges said about a unit is shown to a reviewer, once the unit is decided.
    show_judges = models.BooleanField(default=False, db_default=False)
    # Annotators see what reviewers decided otherwise, and why, once labelling has ended.
    teach = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.slug


class UnitKind(models.TextChoices):
    CLAIM = "claim", _("Claim")
    CONTEXT = "context", _("Context")
    FACT = "fact", _("Key fact")
    ENTITY = "entity", _("Entity")
    ANSWER = "answer", _("Answer")
    SAMPLE = "sample", _("Sample")


class Scale(models.TextChoices):
    BINARY = "binary", _("Binary")
    NOMINAL = "nominal", _("Nominal")
    ORDINAL = "ordinal", _("Ordinal")
    INTERVAL = "interval", pgettext_lazy("scale", "Interval")


class Criterion(models.Model):
    """One version of a question about one kind of unit.

    `options`: list of {"value", "label", "hotkey"?, "help"?} in scale order (worst to best for ordinal scales).
    `passes`: the values that count as *pass*; empty when the criterion has no pass/fail reading.
    Rows are immutable once labels rest on them: services.criteria makes the next version.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="criteria")
    key = models.SlugField(max_length=60)
    version = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=120)
    unit = models.CharField(max_length=10, choices=UnitKind)
    scale = models.CharField(max_length=10, choices=Scale)
    prompt = models.TextField()
    help = models.TextField(blank=True)
    options = models.JSONField(default=list)
    passes = models.JSONField(default=list)
    required = models.BooleanField(default=True)
    # Whether "can't tell" is an answer.
    cant_tell = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "version"], name="criterion_version_once"),
            models.UniqueConstraint(
                fields=["project", "key"], condition=models.Q(is_current=True), name="criterion_one_current_version"
            ),
            models.CheckConstraint(condition=models.Q(unit__in=UnitKind.values), name="criterion_unit_known"),
            models.CheckConstraint(condition=models.Q(scale__in=Scale.values), name="criterion_scale_known"),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"

    @property
    def levels(self) -> list[str | int | float | bool]:
        """The option values in scale order; empty for an open interval scale."""
        return [option["value"] for option in self.options]
