"""Versions that are compared with a baseline: what was written down before figures, what people were asked, and
figures."""

from django.db import models
from django.db.models import Q

from systems.models.question import FrozenSet
from systems.models.version import SystemVersion


class Experiment(models.Model):
    """Versions of a system, compared with one of them on what all were asked.

    frozen_set: the questions; None: all that the baseline and at least one other version were asked. seed, order: of
    the order in which groups of questions are drawn to be labelled, by name; drawn at the first draw, and followed by
    all later ones. None and [] before that.
    """

    project = models.ForeignKey("annotate.Project", on_delete=models.PROTECT, related_name="experiments")
    name = models.SlugField(max_length=60, db_index=False)
    frozen_set = models.ForeignKey(
        FrozenSet, on_delete=models.PROTECT, related_name="experiments", null=True, blank=True
    )
    versions = models.ManyToManyField(SystemVersion, through="ExperimentVersion", related_name="experiments")
    seed = models.BigIntegerField(null=True, blank=True)
    order = models.JSONField(default=list)
    created_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="experiment_name_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.name


class ExperimentVersion(models.Model):
    """One of the compared versions, in the order in which they were named."""

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="compared")
    version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    is_baseline = models.BooleanField(default=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "version"], name="experiment_version_once"),
            models.UniqueConstraint(fields=["experiment", "position"], name="experiment_position_once"),
            models.UniqueConstraint(
                fields=["experiment"], condition=Q(is_baseline=True), name="experiment_one_baseline"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version_id} in {self.experiment_id}"


class ExperimentRule(models.Model):
    """What decides, written down before figures are shown; never changed. A changed rule is the next number.

    metrics: [{"name", "direction", "criterion" | "derived" and its "criterion" | "field", "judge"?}], with every
    default filled in. guards: [{"metric", "margin"}]. labels_before: how many responses of the experiment people had
    labelled on its criteria when it was set. after_figures: whether figures had been made before.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="rules")
    number = models.PositiveIntegerField()
    metrics = models.JSONField()
    primary = models.TextField()
    margin = models.FloatField()
    guards = models.JSONField(default=list)
    level = models.FloatField()
    labels_before = models.PositiveIntegerField()
    after_figures = models.BooleanField()
    set_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    set_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "number"], name="experiment_rule_number_once"),
            models.CheckConstraint(condition=Q(level__gt=0, level__lt=1), name="experiment_level_is_share"),
            models.CheckConstraint(
                condition=Q(margin__gte=0, margin__lt=float("inf")), name="experiment_margin_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"rule {self.number} of {self.experiment_id}"


class ExperimentDraw(models.Model):
    """A batch with the responses of all compared versions to drawn groups of questions, by name. It goes with its
    batch, which can be deleted while it is a draft."""

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="draws")
    batch = models.OneToOneField("annotate.Batch", on_delete=models.CASCADE, related_name="+")
    groups = models.JSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"batch {self.batch_id} of {self.experiment_id}"


class PairDraw(models.Model):
    """A batch with the answers of a version beside the baseline's to drawn groups of questions, by name. It goes with
    its batch, as an `ExperimentDraw`."""

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="pair_draws")
    version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="+")
    batch = models.OneToOneField("annotate.Batch", on_delete=models.CASCADE, related_name="+")
    groups = models.JSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"batch {self.batch_id} of {self.experiment_id}, {self.version_id}"


class ExperimentFigures(models.Model):
    """What was worked out once, by one rule. Never changed, but for `data_version`: data can come back to what they
    were.

    fingerprint: hash of all that went in. data_version: changes whenever that may have changed; cheap to ask for. seed:
    of the folds. figures: FIGURES_VERSION (systems.experiments.read) when it was made. result: as the API shows it.
    """

    rule = models.ForeignKey(ExperimentRule, on_delete=models.PROTECT, related_name="figures")
    fingerprint = models.CharField(max_length=64)
    data_version = models.TextField()
    seed = models.BigIntegerField()
    figures = models.PositiveSmallIntegerField()
    result = models.JSONField()
    made_by = models.ForeignKey("annotate.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["rule", "fingerprint"], name="experiment_figures_once_per_data"),
        ]

    def __str__(self) -> str:
        return f"figures {self.pk} of rule {self.rule_id}"
