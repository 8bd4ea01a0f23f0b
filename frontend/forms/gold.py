from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Criterion, Project
from annotate.projects.read import current_criteria


class DrawGoldForm(forms.Form):
    criterion = forms.ModelChoiceField(label=_("Criterion"), queryset=Criterion.objects.none(), empty_label=None)
    n = forms.IntegerField(label=_("How many to draw"), min_value=1)
    seed = forms.IntegerField(
        label=_("Seed of the draw"),
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text=_("The same seed draws the same units again. Empty: one is drawn and kept."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["criterion"]
        field.queryset = current_criteria(project)  # type: ignore[attr-defined]
        field.label_from_instance = lambda criterion: criterion.name  # type: ignore[attr-defined]
