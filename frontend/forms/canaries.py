from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.sample_choice import MAX_SEED
from frontend.forms.budget import BudgetForm
from judges.services.canaries import DEFAULT_SAMPLES, MOST_SAMPLES


class CanaryForm(BudgetForm):
    """How many samples a judge is checked on, and for how much."""

    budget_help = _("The check stops before it would cost more. Empty: no limit.")

    samples = forms.IntegerField(
        label=_("How many samples"),
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=DEFAULT_SAMPLES,
        help_text=_("Drawn from all that the judge can be asked about, up to three units of each."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_SEED,
        help_text=_("The same seed draws the same samples, so that two versions can be held side by side."),
    )

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the check itself are asked with."""
        return {"samples": self.cleaned_data["samples"], "seed": self.cleaned_data["seed"]}
