from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotate.models import Project, User
from annotate.projects.trail_read import kinds_of
from frontend.trail import KIND_LABELS


class TrailForm(forms.Form):
    """What the trail is searched for; everything may be left out."""

    person = forms.ChoiceField(label=_("Who"), required=False)
    kind = forms.ChoiceField(label=_("What"), required=False)
    sample = forms.CharField(label=_("Sample"), required=False, max_length=1000, widget=forms.TextInput({"size": 12}))
    since = forms.DateField(
        label=pgettext_lazy("a date", "From"), required=False, widget=forms.DateInput({"type": "date"})
    )
    until = forms.DateField(
        label=pgettext_lazy("a date", "To"), required=False, widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(memberships__project=project) | User.objects.filter(raters__project=project)
        self.fields["person"].choices = [  # type: ignore[attr-defined]
            ("", _("anybody")),
            *((user.username, user.name) for user in people.distinct().order_by("username")),
        ]
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            ("", _("anything")),
            *((kind, KIND_LABELS.get(kind, kind)) for kind in kinds_of(project)),
        ]

    def asked(self) -> dict[str, str]:
        """The filter in texts, as the address spells it. Only of a valid form."""
        return {
            name: value.isoformat() if hasattr(value, "isoformat") else value
            for name, value in self.cleaned_data.items()
            if value
        }
