from django import forms
from django.utils.translation import gettext_lazy as _


class SampleSearch(forms.Form):
    """Also refuses what PostgreSQL can't look for (NUL)."""

    q = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"type": "search", "placeholder": _("Id, question or answer")}),
    )


class WorkSearch(forms.Form):
    """Of what one has labelled; ids of samples are the project's business."""

    q = forms.CharField(
        label=_("Words in question or answer"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"type": "search"}),
    )
