from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from annotate.models.batch import BatchStatus

ALL = "all"


class ProposalForm(forms.Form):
    """For which answers a model proposes claims, and for how much."""

    scope = forms.ChoiceField(label=_("Samples"))
    budget = forms.DecimalField(
        label=_("Budget"),
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=6,
        widget=forms.NumberInput({"step": "any"}),
        help_text=_("It stops before it would cost more. Empty: no limit."),
    )

    def __init__(self, project: Project, *args: Any, currency: str | None, **kwargs: Any) -> None:
        """currency: of the endpoint that is paid; None: nothing is."""
        super().__init__(*args, **kwargs)
        drafts = project.batches.filter(status=BatchStatus.DRAFT).order_by("-number")
        self.fields["scope"].choices = [  # type: ignore[attr-defined]
            (ALL, _("All whose claims may still change")),
            *((str(batch.number), f"{batch.number} · {batch.name}") for batch in drafts),
        ]
        if currency is None:
            del self.fields["budget"]
        else:
            self.fields["budget"].label = _("Budget in %(currency)s") % {"currency": currency}

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the run itself are asked with."""
        chosen = self.cleaned_data["scope"]
        return {"scope": {"all": True} if chosen == ALL else {"batch": int(chosen)}}

    def terms(self) -> dict[str, Any]:
        """What only the run itself is asked with."""
        return {"budget": self.cleaned_data.get("budget")}
