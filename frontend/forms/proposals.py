from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from annotate.models.batch import BatchStatus
from frontend.forms.budget import BudgetForm

ALL = "all"


class ProposalForm(BudgetForm):
    """For which answers a model proposes claims, and for how much."""

    budget_help = _("It stops before it would cost more. Empty: no limit.")

    scope = forms.ChoiceField(label=_("Samples"))

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        drafts = project.batches.filter(status=BatchStatus.DRAFT).order_by("-number")
        self.fields["scope"].choices = [  # type: ignore[attr-defined]
            (ALL, _("All whose claims may still change")),
            *((str(batch.number), f"{batch.number} · {batch.name}") for batch in drafts),
        ]

    def wanted(self) -> dict[str, Any]:
        """What an estimate and the run itself are asked with."""
        chosen = self.cleaned_data["scope"]
        return {"scope": {"all": True} if chosen == ALL else {"batch": int(chosen)}}
