from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Project
from frontend.forms.batches import WhoLabelsForm
from judges.services.next_samples import DEFAULT_COUNT, FEWEST_SAMPLES, MOST_SAMPLES, About

PEOPLE = "people"


class WidthForm(forms.Form):
    """How sure one wants to be."""

    width = forms.FloatField(
        label=_("Half-width wanted (±)"),
        min_value=0.005,
        max_value=1.0,
        widget=forms.NumberInput({"step": "any"}),
    )


class DrawForm(forms.Form):
    """How many samples to draw, and what their labels should make surer."""

    n = forms.IntegerField(
        label=_("How many samples"), min_value=FEWEST_SAMPLES, max_value=MOST_SAMPLES, initial=DEFAULT_COUNT
    )
    about = forms.ChoiceField(label=_("Labels should make surer"))

    def __init__(self, judges: Sequence[Mapping[str, Any]], *args: Any, **kwargs: Any) -> None:
        """`judges`: those of the report."""
        super().__init__(*args, **kwargs)
        choices: list[tuple[str, Any]] = [(PEOPLE, _("how people answer"))]
        choices += [(_key(row), _("kappa of %(judge)s") % {"judge": row["title"]}) for row in judges]
        self.fields["about"].choices = choices  # type: ignore[attr-defined]
        # Whoever opens the planner of a judge that scores wants to know that judge.
        self.fields["about"].initial = next((_key(row) for row in judges if row["kappa"]["value"] is not None), PEOPLE)

    def wanted(self) -> dict[str, Any]:
        """The draw as services.next_samples takes it."""
        about = self.cleaned_data["about"]
        return {"count": self.cleaned_data["n"], "about": None if about == PEOPLE else About(*json.loads(about))}


class DrawnBatchForm(WhoLabelsForm):
    """Who labels the draw that was seen; it goes along, as `DrawForm` was sent and as it came out."""

    n = forms.CharField(widget=forms.HiddenInput)
    about = forms.CharField(widget=forms.HiddenInput)
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, widget=forms.HiddenInput)
    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        # The page has the draw's own form as well.
        super().__init__(project, *args, auto_id="id_batch_%s", **kwargs)


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row["judge"], row["dimension"]])
