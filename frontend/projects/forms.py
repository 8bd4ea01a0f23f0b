from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document
from annotate.models import Project, User
from annotate.models.project import UnitKind
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA
from annotate.projects.trail_read import kinds_of
from frontend.base.trail import KIND_LABELS

MAX_JSON_BYTES = 2 * 1024 * 1024


def builtin_choices(taken: set[str] = frozenset()) -> list[tuple[str, str]]:  # type: ignore[assignment]
    """Built-in criteria that a project doesn't have yet, each with the unit it is asked about."""
    return [
        (key, f"{spec['name']} ({UnitKind(spec['unit']).label.lower()}) – {spec['prompt']}")
        for key, spec in BUILTIN_CRITERIA.items()
        if key not in taken
    ]


class JSONUpload(forms.FileField):
    """A small JSON file, read."""

    def clean(self, data: Any, initial: Any = None) -> Any:
        file: UploadedFile | None = super().clean(data, initial)
        if not file:
            return None
        if (file.size or 0) > MAX_JSON_BYTES:
            raise forms.ValidationError(_("This file is larger than 2 MB; such a specification is a few kB."))
        try:
            return parse_document(file.read())
        except RowError as error:
            raise forms.ValidationError(_("This file can't be read: %(why)s") % {"why": error.message}) from error


class NewProjectForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=200)
    slug = forms.SlugField(
        label=_("Short name"),
        max_length=60,
        help_text=_("Part of the project's address and what commands call it: a–z, 0–9, “-” and “_”. It stays."),
    )
    guidelines = forms.CharField(
        label=_("Guidelines"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 8}),
        help_text=_("What annotators should know, in Markdown. They can open it while they label."),
    )
    criteria = forms.MultipleChoiceField(
        label=_("Built-in criteria"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("What people are asked about each unit. You can add your own afterwards."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criteria"].choices = builtin_choices()  # type: ignore[attr-defined]


class ProjectFileForm(forms.Form):
    slug = forms.SlugField(label=_("Short name"), max_length=60)
    file = JSONUpload(
        label=_("project.json"),
        help_text=_("An object with “name”, “guidelines” and “criteria”."),
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )


class SettingsForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=200)
    guidelines = forms.CharField(
        label=_("Guidelines"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 18}),
        help_text=_("Markdown: headings, lists, tables, links. Raw HTML and images are not shown."),
    )
    show_names = forms.BooleanField(
        label=_("Reviewers see names"),
        required=False,
        help_text=_("Otherwise they see letters instead, so that a name doesn’t sway them."),
    )
    show_judges = forms.BooleanField(
        label=_("Reviewers see what judges said, once a unit is decided"),
        required=False,
        help_text=_("Never before: a decision must not lean on a judge that is held against it."),
    )
    teach = forms.BooleanField(
        label=_("Annotators learn from decisions"),
        required=False,
        help_text=_("Once labelling has ended, they see which of their labels were decided otherwise, and why."),
    )


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
