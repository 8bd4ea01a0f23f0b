from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion, Project
from annotate.selectors.projects import current_criteria
from annotate.selectors.proposals import FEWEST_VOTES


class DecisionForm(forms.Form):
    """`value`: an option as text, which annotate.scales turns into the option; any number on an open scale."""

    value = forms.CharField(
        label=_("Value"), required=False, error_messages={"required": _("Choose the value that is right.")}
    )
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("The annotators learn from it."),
        error_messages={"required": _("Give the reason in a few words; the annotators learn from it.")},
    )
    revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, criterion: Criterion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["value"].required = True
        if not criterion.options:
            self.fields["value"].widget = forms.NumberInput({"step": "any"})


class ReturnForm(forms.Form):
    """Whose label goes back, by letter, and what they are told."""

    annotator = forms.ChoiceField(label=_("To"), error_messages={"required": _("Choose whose label goes back.")})
    message = forms.CharField(
        label=_("What should they look at?"),
        widget=forms.Textarea({"rows": 3}),
        error_messages={"required": _("Say in a few words what they should look at.")},
    )

    def __init__(self, annotators: Sequence[tuple[str, str]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "id_return_%s", **kwargs})
        self.fields["annotator"].choices = list(annotators)  # type: ignore[attr-defined]


class AcceptForm(forms.Form):
    """Which disputed units to settle many at once; the services know the limits."""

    method = forms.ChoiceField(
        label=_("By"),
        choices=[
            ("agreement", _("Agreement of the votes")),
            ("dawid_skene", _("Dawid–Skene: all labels, weighed by how often each annotator errs")),
        ],
        initial="agreement",
        widget=forms.RadioSelect,
    )
    criterion = forms.ChoiceField(label=_("Criterion"), required=False)
    agreement = forms.IntegerField(
        label=_("At least this share of the votes agrees, in %"),
        required=False,
        initial=66,
        min_value=51,
        max_value=100,
    )
    votes = forms.IntegerField(
        label=_("and there are at least this many votes"),
        required=False,
        initial=2,
        min_value=FEWEST_VOTES,
        max_value=1000,
    )
    posterior = forms.IntegerField(
        label=_("At least this probable, in %"), required=False, initial=95, min_value=51, max_value=100
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(criterion.key, criterion.name) for criterion in current_criteria(project)]
        self.fields["criterion"].choices = [("", _("All criteria")), *named]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("method") == "dawid_skene" and not given.get("criterion"):
            self.add_error("criterion", _("Choose a criterion: the model is fitted to one at a time."))
        needed = ("posterior",) if given.get("method") == "dawid_skene" else ("agreement", "votes")
        for name in needed:
            if given.get(name) is None and name not in self.errors:
                self.add_error(name, self.fields[name].error_messages["required"])
        return given
