from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.files.export_rows import NAMED, NUMBERED
from annotate.files.fields import IGNORE, METADATA
from annotate.files.import_engine import Preview
from annotate.models import Criterion, Project
from annotate.models.transfer import ImportKind
from annotate.projects.read import current_criteria

_WORDS = {METADATA: _("keep as metadata"), IGNORE: _("leave out")}


class UploadForm(forms.Form):
    kind = forms.ChoiceField(label=_("What it holds"), choices=ImportKind.choices, widget=forms.RadioSelect)
    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "JSONL, JSON, CSV (also as .gz) or Parquet, UTF-8. Next you see its first rows, before anything is written."
        ),
        widget=forms.FileInput({"accept": ".jsonl,.ndjson,.json,.csv,.tsv,.gz,.parquet,.pq"}),
    )


class MappingForm(forms.Form):
    """One choice per column: the field it becomes. Columns are numbered, because their names may be anything."""

    def __init__(self, shown: Preview, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.columns = shown.columns
        targets = [(target, _WORDS.get(target, target)) for target in shown.targets]
        for index, column in enumerate(shown.columns):
            self.fields[f"column_{index}"] = forms.ChoiceField(
                label=column, choices=targets, initial=shown.mapping.get(column, IGNORE)
            )

    def mapping(self) -> dict[str, str]:
        return {column: self.cleaned_data[f"column_{index}"] for index, column in enumerate(self.columns)}


FORMATS = (
    ("jsonl", _("JSONL: one row per unit, with votes, method and provenance")),
    ("csv", _("CSV: the same as a table")),
    ("parquet", _("Parquet: the same, typed")),
    ("ragas", _("Evaluation library (RAGAS spelling): samples with their verdicts")),
    ("qrels", _("TREC qrels: relevance of contexts")),
)

# What a release's file is called where there is no room for a sentence.
FORMAT_NAMES = {
    "jsonl": "JSONL",
    "csv": "CSV",
    "parquet": "Parquet",
    "ragas": _("Evaluation library (RAGAS spelling)"),
    "qrels": "TREC qrels",
}


class ReleaseForm(forms.Form):
    file_format = forms.ChoiceField(label=_("Format"), choices=FORMATS, widget=forms.RadioSelect)
    annotators = forms.ChoiceField(
        label=_("Columns per annotator"),
        required=False,
        choices=(
            ("", _("None")),
            (NUMBERED, _("Numbered: the file names nobody")),
            (NAMED, _("By name")),
        ),
        help_text=_(
            "What each said about a unit: value, “can't tell”, comment, evidence, time at work, when. "
            "For JSONL, CSV and Parquet."
        ),
    )


class SettleForm(forms.Form):
    """Verdicts from labels that were made elsewhere."""

    criterion = forms.ModelChoiceField(
        label=_("Criterion"), queryset=Criterion.objects.none(), to_field_name="key", empty_label=None
    )
    needed = forms.IntegerField(
        label=_("Labels a unit needs"),
        min_value=1,
        max_value=1000,
        initial=2,
        help_text=_("Units with fewer are left without a verdict; those without a majority go to the reviewers."),
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["criterion"]
        field.queryset = current_criteria(project)  # type: ignore[attr-defined]
        field.label_from_instance = lambda criterion: criterion.name  # type: ignore[attr-defined]
