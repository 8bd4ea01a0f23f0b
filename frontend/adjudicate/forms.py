from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion, Project
from annotate.projects.read import rated_criteria
from annotate.verdicts.proposals_read import FEWEST_VOTES


class DecisionForm(forms.Form):
    """`value`: an option as text, which annotate.core.scales turns into the option; any number on an open scale."""

    value = forms.CharField(
        label=_("Value"), required=False, error_messages={"required": _("Choose the correct value.")}
    )
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Shown to the annotators."),
        error_messages={"required": _("Briefly explain your reason. Annotators learn from it.")},
    )
    revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, criterion: Criterion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["value"].required = True
        if not criterion.options:
            self.fields["value"].widget = forms.NumberInput({"step": "any"})


class ReturnForm(forms.Form):
    """Whose label goes back, by letter, and what they are told."""

    annotator = forms.ChoiceField(label=_("Annotator"), error_messages={"required": _("Choose an annotator.")})
    message = forms.CharField(
        label=_("What to revise"),
        widget=forms.Textarea({"rows": 3}),
        error_messages={"required": _("Briefly explain what to revise.")},
    )

    def __init__(self, annotators: Sequence[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "id_return_%s", **kwargs})
        self.fields["annotator"].choices = list(annotators)  # type: ignore[attr-defined]


class AgreedForm(forms.Form):
    """Which disputed units to settle by the agreement of their votes."""

    criterion = forms.ChoiceField(label=_("Criterion"), required=False)
    agreement = forms.IntegerField(label=_("Minimum agreement (%)"), initial=66, min_value=51, max_value=100)
    votes = forms.IntegerField(label=_("Minimum votes"), initial=2, min_value=FEWEST_VOTES, max_value=1000)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "id_agreed_%s", **kwargs})
        self.fields["criterion"].choices = [("", _("All criteria")), *_named(project)]  # type: ignore[attr-defined]


class ProbableForm(forms.Form):
    """Which disputed units to settle as Dawid and Skene's model says."""

    criterion = forms.ChoiceField(label=_("Criterion"))
    posterior = forms.IntegerField(label=_("Minimum probability (%)"), initial=95, min_value=51, max_value=100)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "id_probable_%s", **kwargs})
        self.fields["criterion"].choices = _named(project)  # type: ignore[attr-defined]


def _named(project: Project) -> list[tuple[str, str]]:
    return [(criterion.key, criterion.name) for criterion in rated_criteria(project)]
