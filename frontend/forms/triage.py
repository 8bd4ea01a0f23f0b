from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Project, User
from annotate.services.batches import earliest_due_date
from frontend.forms.batches import offer_members


class RestForm(forms.Form):
    """Who labels what a judge may not decide alone."""

    name = forms.CharField(label=_("Name"), max_length=200)
    due_date = forms.DateField(
        label=_("Due date"), required=False, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    annotators = forms.ModelMultipleChoiceField(
        label=_("Annotators"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose who labels this batch.")},
    )
    overlap = forms.IntegerField(
        label=_("Overlap"),
        min_value=1,
        max_value=100,
        initial=2,
        help_text=_("How many people label each sample. Agreement can be measured from 2 on."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["due_date"].widget.attrs["min"] = earliest_due_date().isoformat()
        offer_members(self.fields["annotators"], project)
