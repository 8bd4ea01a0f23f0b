from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.sample_choice import MAX_SEED
from annotate.models import Criterion
from frontend.forms.budget import BudgetForm
from judges.services.trials import DEFAULT_SAMPLES, MOST_SAMPLES


class TrialForm(BudgetForm):
    """On what a changed judge is tried, and for how much."""

    budget_help = _("Of each version’s run; it stops before it would cost more. Empty: no limit.")

    criterion = forms.ChoiceField(label=_("Against people’s answers on"))
    samples = forms.IntegerField(
        label=_("How many samples"),
        min_value=1,
        max_value=MOST_SAMPLES,
        initial=DEFAULT_SAMPLES,
        help_text=_("Drawn from the dev half, from those that people have answered. The test half stays closed."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_SEED,
        help_text=_("The same seed draws the same samples, so that two trials can be held side by side."),
    )

    def __init__(self, criteria: Sequence[Criterion], *args: Any, **kwargs: Any) -> None:
        """criteria: those that the judge answers."""
        super().__init__(*args, **kwargs)
        self.by_key = {criterion.key: criterion for criterion in criteria}
        self.fields["criterion"].choices = [(one.key, one.name) for one in criteria]  # type: ignore[attr-defined]
        self.fields["criterion"].initial = next(iter(self.by_key), None)

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the trial itself are asked with."""
        given = self.cleaned_data
        return {
            "criterion": self.by_key[given["criterion"]],
            "samples": given["samples"],
            "seed": given["seed"],
        }
