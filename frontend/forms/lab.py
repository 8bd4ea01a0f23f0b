from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion
from annotate.services.batches import MAX_SEED
from judges.services.trials import DEFAULT_SAMPLES, MOST_SAMPLES


class TrialForm(forms.Form):
    """On what a changed judge is tried, and for how much."""

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
    budget = forms.DecimalField(
        label=_("Budget"),
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
        widget=forms.NumberInput({"step": "any"}),
        help_text=_("Of each version’s run; it stops before it would cost more. Empty: no limit."),
    )

    def __init__(self, criteria: Sequence[Criterion], *args: Any, currency: str | None, **kwargs: Any) -> None:
        """criteria: those that the judge answers. currency: of the endpoint that is paid; None: nothing is."""
        super().__init__(*args, **kwargs)
        self.by_key = {criterion.key: criterion for criterion in criteria}
        self.fields["criterion"].choices = [(one.key, one.name) for one in criteria]  # type: ignore[attr-defined]
        self.fields["criterion"].initial = next(iter(self.by_key), None)
        if currency is None:
            del self.fields["budget"]
        else:
            self.fields["budget"].label = _("Budget in %(currency)s") % {"currency": currency}

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the trial itself are asked with."""
        given = self.cleaned_data
        return {
            "criterion": self.by_key[given["criterion"]],
            "samples": given["samples"],
            "seed": given["seed"],
        }

    def terms(self) -> dict[str, Any]:
        """What only the trial itself is asked with."""
        return {"budget": self.cleaned_data.get("budget")}
