"""Alignments of a judge with people, and the rules that were found in them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from judges.models.judge import Created, JudgeVersion
from judges.models.run import Run


class AlignmentStep(models.TextChoices):
    # The judge as it is answers on dev; where it is wrong, a model says which rule people go by; the rules of all parts
    # are united; where it is wanted, other words for the prompt are looked for; the candidates answer.
    START = "start", _("Current judge")
    RULES = "rules", _("Finding rules")
    UNITE = "unite", _("Uniting rules")
    SEARCH = "search", _("Prompt search")
    CANDIDATES = "candidates", _("Candidates")
    DONE = "done", _("Done")


class Alignment(Created):
    """One alignment. Each step is a run of the version started from, all under one budget.

    base: the version that it starts from. dimension: the name under which that answers the criterion. units: what it
    rests on, as it was at the start, each [sample's own id, unit, group, fold, people's value, level] (level:
    judges.aligning.people.Levels). candidates: from their step on, each {"name", "parts": part -> {"guideline",
    "rules", "instruction", "examples", "nearest"}}, the first without any; parts: judges.aligning.candidates. run: of
    the step. search: how many requests the search of each part may make; 0: none is made. result: what choosing among
    them came to (judges.aligning.outcome), None until it is done.
    """

    base = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, related_name="alignments")
    criterion = models.ForeignKey("annotate.Criterion", on_delete=models.PROTECT, related_name="alignments")
    dimension = models.CharField(max_length=120)
    seed = models.PositiveIntegerField()
    units = models.JSONField()
    candidates = models.JSONField(default=list)
    search = models.PositiveIntegerField(default=0)
    budget = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    step = models.CharField(max_length=10, choices=AlignmentStep, default=AlignmentStep.START)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="alignments")
    result = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(step__in=AlignmentStep.values), name="alignment_step_known"),
            models.CheckConstraint(
                condition=Q(step=AlignmentStep.DONE, result__isnull=False)
                | (~Q(step=AlignmentStep.DONE) & Q(result__isnull=True)),
                name="alignment_done_has_result",
            ),
        ]
        indexes = [
            # Read every few seconds: the few that are not done.
            models.Index(fields=["id"], condition=~Q(step=AlignmentStep.DONE), name="alignment_under_way"),
        ]

    def __str__(self) -> str:
        return f"alignment {self.pk} of {self.base_id}"


class RuleState(models.TextChoices):
    PROPOSED = "proposed", _("Proposed")
    ACCEPTED = "accepted", _("Accepted")
    DROPPED = "dropped", _("Dropped")


class Rule(models.Model):
    """A rule that people go by, as a model found it.

    sources: the units that it comes from, [sample's own id, unit]; groups: of how many groups. proposed: in the model's
    words; text: in those that a person gave it, at first the same.
    """

    alignment = models.ForeignKey(Alignment, on_delete=models.CASCADE, related_name="rules")
    proposed = models.TextField()
    text = models.TextField()
    sources = models.JSONField()
    groups = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=RuleState, default=RuleState.PROPOSED)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=RuleState.values), name="rule_state_known"),
        ]

    def __str__(self) -> str:
        return f"rule {self.pk} of alignment {self.alignment_id}"
