from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.forms.budget import BudgetForm, budget_field

ALL, BATCH, PIPELINE = "all", "batch", "pipeline"
MAX_REPEATS = 20


class RunForm(BudgetForm):
    """Over which samples a judge runs, how often it is asked, and for how much."""

    budget_help = _("The run stops before it would cost more. Empty: no limit.")

    scope = forms.ChoiceField(
        label=_("Samples"),
        initial=ALL,
        widget=forms.RadioSelect,
        choices=(
            (ALL, _("All samples")),
            (BATCH, _("Those of a batch")),
            (PIPELINE, _("Those of a pipeline version")),
        ),
    )
    batch = forms.TypedChoiceField(label=_("Batch"), required=False, coerce=int, empty_value=None)
    pipeline = forms.ChoiceField(label=_("Pipeline version"), required=False)
    repeats = forms.IntegerField(
        label=_("How often"),
        min_value=1,
        max_value=MAX_REPEATS,
        initial=1,
        help_text=_("More than once shows how steady the judge is: its self-noise."),
    )
    again = forms.BooleanField(
        label=_("Ask about every unit once more"),
        required=False,
        help_text=_("Otherwise only units without a score are asked about; failed ones are tried again."),
    )
    fresh = forms.BooleanField(
        label=_("Don’t use replies that are kept from earlier"),
        required=False,
        help_text=_("A question that was asked before, word for word, is sent and paid once more."),
    )

    def __init__(self, project: Project, *args: Any, currency: str | None, **kwargs: Any) -> None:
        super().__init__(*args, currency=currency, **kwargs)
        batches = [(batch.number, f"{batch.number} · {batch.name}") for batch in project.batches.order_by("-number")]
        pipelines = project.samples.exclude(pipeline_version="").order_by("pipeline_version")
        versions = [(name, name) for name in pipelines.values_list("pipeline_version", flat=True).distinct()]
        offered = {ALL: True, BATCH: bool(batches), PIPELINE: bool(versions)}
        self.fields["scope"].choices = [one for one in self.fields["scope"].choices if offered[one[0]]]  # type: ignore[attr-defined]
        for name, choices in ((BATCH, batches), (PIPELINE, versions)):
            if choices:
                self.fields[name].choices = choices  # type: ignore[attr-defined]
            else:
                del self.fields[name]
        if currency is None:
            del self.fields["fresh"]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        for name in (BATCH, PIPELINE):
            if given.get("scope") == name and not given.get(name) and name not in self.errors:
                self.add_error(name, _("Choose one."))
        return given

    def scope_wanted(self) -> dict[str, Any]:
        """As judges.running.scopes reads it."""
        chosen = self.cleaned_data["scope"]
        return {ALL: True} if chosen == ALL else {chosen: self.cleaned_data[chosen]}

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the run itself are asked with."""
        given = self.cleaned_data
        return {"scope": self.scope_wanted(), "repeats": given["repeats"], "again": given["again"]}

    def terms(self) -> dict[str, Any]:
        return {**super().terms(), "fresh": self.cleaned_data.get("fresh", False)}


class ResumeForm(forms.Form):
    """How much a run that goes on may cost in all."""

    budget = budget_field()

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["budget"].label = _("Budget of the whole run in %(currency)s") % {"currency": currency}
