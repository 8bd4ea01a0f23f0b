from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion


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
