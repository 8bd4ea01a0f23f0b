from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from frontend.forms.projects import JSONUpload
from judges.models import VersionState


class JudgeForm(forms.Form):
    """What a judge of any kind has."""

    name = forms.CharField(label=_("Name"), max_length=200, help_text=_("What reports and commands call it. It stays."))
    description = forms.CharField(
        label=_("Description"), required=False, max_length=10_000, widget=forms.Textarea({"rows": 2})
    )
    higher_is_better = forms.BooleanField(label=_("A higher score is better"), required=False, initial=True)


class VersionForm(forms.Form):
    """What becomes of an edited configuration."""

    state = forms.ChoiceField(
        label=_("The new version"),
        initial=VersionState.KEPT,
        widget=forms.RadioSelect,
        choices=(
            (VersionState.KEPT, _("is in use at once: from now on its scores count")),
            (VersionState.TRIAL, _("is on trial: no report counts it until somebody keeps it")),
        ),
    )


class JudgeFileForm(forms.Form):
    file = JSONUpload(
        label=_("From a JSON file"),
        help_text=_("A judge as another project’s page offers it for download, or as create_judge takes it."),
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )

    def spec(self) -> dict[str, Any]:
        given = self.cleaned_data["file"]
        return given if isinstance(given, dict) else {}
