from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion, Project
from annotate.projects.read import rated_criteria, voted_criteria
from annotate.verdicts.proposals_read import FEWEST_VOTES


class DecisionForm(forms.Form):
    """`value`: an option as text, which annotate.core.scales turns into the option; several of them on a multi-select
    criterion, or `none`; any number on an open scale."""

    value = forms.CharField(
        label=_("Value"), required=False, error_messages={"required": _("Choose the correct value.")}
    )
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Shown to the annotators."),
        error_messages={"required": _("Briefly explain your reason. Annotators learn from it.")},
    )
    none = forms.BooleanField(label=_("None of these"), required=False)
    revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, criterion: Criterion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_multi = criterion.is_multi
        self.fields["value"].required = not self.is_multi
        if self.is_multi:
            options = [(str(value), str(value)) for value in criterion.levels]
            self.fields["value"] = forms.MultipleChoiceField(label=_("Value"), required=False, choices=options)
        elif not criterion.options:
            self.fields["value"].widget = forms.NumberInput({"step": "any"})

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if self.is_multi and "value" in given and bool(given["value"]) == given["none"]:
            self.add_error("value", _("Select the options that apply, or “None of these”."))
        return given

    def chosen(self) -> set[str]:
        """The values that are chosen, as text."""
        value = self["value"].value()
        return {str(one) for one in value or ()} if isinstance(value, list) else {str(value)}


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
        self.fields["criterion"].choices = [  # type: ignore[attr-defined]
            ("", _("All criteria")), *_named(voted_criteria(project)),
        ]  # fmt: skip


class ProbableForm(forms.Form):
    """Which disputed units to settle as Dawid and Skene's model says."""

    criterion = forms.ChoiceField(label=_("Criterion"))
    posterior = forms.IntegerField(label=_("Minimum probability (%)"), initial=95, min_value=51, max_value=100)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "id_probable_%s", **kwargs})
        self.fields["criterion"].choices = _named(rated_criteria(project))  # type: ignore[attr-defined]


def _named(criteria: QuerySet[Criterion]) -> list[tuple[str, str]]:
    return [(criterion.key, criterion.name) for criterion in criteria]
