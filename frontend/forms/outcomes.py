from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Project
from frontend.forms.batches import WhoLabelsForm
from judges.services.outcome_queue import Shares

DEFAULT = Shares()


def _percent(label: Any, share: float) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        min_value=0.1,
        max_value=100,
        initial=f"{100 * share:g}",
        widget=forms.NumberInput({"step": "any", "inputmode": "decimal"}),
    )


class OutcomeForm(forms.Form):
    """Which part of a judge's outcomes people should see. `threshold` is asked of a judge that gives numbers."""

    threshold = forms.FloatField(label=_("Threshold"), widget=forms.NumberInput({"step": "any"}))
    fails = _percent(_("Of what it fails (%)"), DEFAULT.fails)
    passes = _percent(_("Of what it passes (%)"), DEFAULT.passes)
    unscored = _percent(_("Of what it has no score for (%)"), DEFAULT.unscored)

    def __init__(self, *args: Any, numbers: bool, higher_is_better: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not numbers:
            del self.fields["threshold"]
        else:
            passes = (
                _("A unit passes from this score on.") if higher_is_better else _("A unit passes up to this score.")
            )
            self.fields["threshold"].help_text = passes

    def wanted(self) -> dict[str, Any]:
        """The draw as services.outcome_queue takes it."""
        given = self.cleaned_data
        shares = Shares(*(given[name] / 100 for name in ("fails", "passes", "unscored")))
        return {"threshold": given.get("threshold"), "shares": shares}


class OutcomeBatchForm(WhoLabelsForm):
    """Who labels the draw that was seen; it goes along, as it came out."""

    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, widget=forms.HiddenInput)
    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        # The page has the draw's own form as well.
        super().__init__(project, *args, auto_id="id_batch_%s", **kwargs)
