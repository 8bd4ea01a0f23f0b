from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from annotate.files.problems import RowError
from annotate.files.strict_json import parse_document
from annotate.models.project import UnitKind
from annotate.projects.builtin_criteria import BUILTIN_CRITERIA

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
