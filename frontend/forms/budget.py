from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _


def budget_field(**changes: Any) -> forms.DecimalField:
    """An amount of money, to the millionth; empty for none."""
    return forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
        widget=forms.NumberInput({"step": "any"}),
        **changes,
    )


class BudgetForm(forms.Form):
    """Of something that asks a judge's model: with a last field for how much it may cost, where it costs anything.

    budget_help: what happens when it would cost more.
    """

    budget_help: Any

    def __init__(self, *args: Any, currency: str | None, **kwargs: Any) -> None:
        """currency: of the endpoint that is paid; None: nothing is."""
        super().__init__(*args, **kwargs)
        if currency is not None:
            label = _("Budget in %(currency)s") % {"currency": currency}
            self.fields["budget"] = budget_field(label=label, help_text=self.budget_help)

    def terms(self) -> dict[str, Any]:
        """What only the run itself is asked with, and no estimate."""
        return {"budget": self.cleaned_data.get("budget")}
