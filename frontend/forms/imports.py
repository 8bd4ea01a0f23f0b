from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.files.fields import IGNORE, METADATA
from annotate.files.import_engine import Preview
from annotate.models.transfer import ImportKind

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
