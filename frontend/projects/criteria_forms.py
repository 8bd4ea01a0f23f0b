from __future__ import annotations

from typing import Any

from django import forms
from django.forms.formsets import BaseFormSet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotate.batches.criterion_change_read import MAX_REASON, Choices, Impact
from annotate.core.scales import Value
from annotate.models import Criterion, Project, User
from annotate.models.project import Prefill, Scale, UnitKind
from annotate.projects.criteria import MAX_OPTIONS
from annotate.projects.read import members_of
from frontend.projects.views import JSONUpload, builtin_choices
from judges.models import Measure

BLANK_ROWS = 6


class CriterionForm(forms.Form):
    key = forms.SlugField(
        label=_("Key"),
        max_length=60,
        help_text=_("Name in files and commands, such as “support”. Can’t be changed later."),
    )
    name = forms.CharField(label=_("Name"), max_length=120, required=False, help_text=_("Leave empty to use the key."))
    unit = forms.ChoiceField(label=_("Applies to"), choices=UnitKind.choices)
    scale = forms.ChoiceField(
        label=_("Scale"),
        choices=[
            (Scale.BINARY, _("Binary: two options")),
            (Scale.NOMINAL, _("Nominal: unordered options")),
            (Scale.ORDINAL, _("Ordinal: options from worst to best")),
            (Scale.INTERVAL, _("Interval: numbers, evenly spaced or any")),
            (Scale.MULTI, _("Multi-select: any number of options")),
            (Scale.TEXT, _("Free text: without options")),
        ],
    )
    prefill = forms.ChoiceField(
        label=_("The field starts with"),
        choices=Prefill.choices,
        required=False,
        help_text=_("Annotators then edit the answer, and only what they change is a label. Can’t be changed later."),
    )
    prompt = forms.CharField(label=_("Question"), widget=forms.Textarea({"rows": 2}))
    help = forms.CharField(
        label=_("Help"), required=False, widget=forms.Textarea({"rows": 2}), help_text=_("Shown below the question.")
    )
    required = forms.BooleanField(
        label=_("Require a value for every unit before submission"), required=False, initial=True
    )
    cant_tell = forms.BooleanField(
        label=_("Allow “can’t tell”"),
        required=False,
        initial=True,
        help_text=_("Requires a reason and doesn’t count as a vote. Units short of votes go to a reviewer."),
    )


class OptionForm(forms.Form):
    value = forms.CharField(label=_("Value"), required=False, max_length=200)
    label = forms.CharField(label=pgettext_lazy("of an option", "Label"), required=False, max_length=200)
    hotkey = forms.CharField(label=pgettext_lazy("on the keyboard", "Shortcut"), required=False, max_length=1)
    help = forms.CharField(label=_("Help"), required=False, max_length=2000)
    passes = forms.BooleanField(label=_("Pass"), required=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if not given.get("value") and any(given.get(name) for name in ("label", "hotkey", "help", "passes")):
            self.add_error("value", _("Enter a value for this option."))
        return given


OptionFormSet = forms.formset_factory(
    OptionForm, extra=BLANK_ROWS, max_num=MAX_OPTIONS, validate_max=True, absolute_max=MAX_OPTIONS + BLANK_ROWS
)


class CriteriaFileForm(forms.Form):
    file = JSONUpload(
        label=_("Criteria from a JSON file"),
        help_text=_("One criterion or a list, as in project.json."),
        widget=forms.FileInput({"accept": ".json,application/json"}),
    )


class BuiltinForm(forms.Form):
    criteria = forms.MultipleChoiceField(label=_("Built-in criteria"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, taken: set[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criteria"].choices = builtin_choices(taken)  # type: ignore[attr-defined]


class RequirementForm(forms.Form):
    """What a judge must show; the service checks the ranges."""

    measure = forms.ChoiceField(label=_("Figure"), choices=Measure.choices)
    bar = forms.FloatField(
        label=_("Minimum"),
        help_text=_("For kappa, 0.4 is common. For judge − person, −0.05 is common (at most 0.05 below an annotator)."),
    )
    risk = forms.FloatField(
        label=_("Maximum error when deciding alone"),
        help_text=_("Maximum share of human fails it may pass, and of human passes it may fail."),
    )
    coverage = forms.FloatField(
        label=_("Minimum share scored"),
        help_text=_("Share of the labelled units. Units without a score count as wrong."),
    )


def spec_of(form: CriterionForm, rows: BaseFormSet, standing: Criterion | None = None) -> dict[str, Any]:
    """The two valid forms as a specification, in the spelling of project.json."""
    given = [row.cleaned_data for row in rows if row.cleaned_data.get("value")]
    values = _values([row["value"] for row in given], standing)
    options = [
        {"value": value, **{name: row[name] for name in ("label", "hotkey", "help") if row[name]}}
        for row, value in zip(given, values, strict=True)
    ]
    passing = [value for row, value in zip(given, values, strict=True) if row["passes"]]
    said = {**form.cleaned_data, "options": options, "pass": passing}
    # The style sheet hides what free text doesn't have, what only free text about answers has, and what passes where
    # several options can be chosen.
    if said["scale"] != Scale.TEXT:
        return {**said, "prefill": "", **({"pass": []} if said["scale"] == Scale.MULTI else {})}
    prefill = said["prefill"] if said["unit"] == UnitKind.ANSWER else ""
    required = said["required"] and not prefill
    return {**said, "options": [], "pass": [], "cant_tell": False, "prefill": prefill, "required": required}


def initial_of(criterion: Criterion) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A criterion as the two forms show it."""
    fields = {name: getattr(criterion, name) for name in CriterionForm.base_fields}
    rows = [{**option, "passes": option["value"] in criterion.passes} for option in criterion.options]
    return fields, rows


def _values(texts: list[str], standing: Criterion | None) -> list[Value]:
    """Typed values: numbers when all of them are, else texts; a value that stood there before keeps its type."""
    numbers = [_number(text) for text in texts]
    typed: list[Value] = [n for n in numbers if n is not None] if None not in numbers else list(texts)
    known = {str(value): value for value in standing.levels} if standing else {}
    return [known.get(text, value) for text, value in zip(texts, typed, strict=True)]


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


class ChangeForm(forms.Form):
    """What only the admin knows about a change, and who gives the touched labels anew."""

    same_meaning = forms.BooleanField(
        label=_("Only the wording changes, not the meaning"),
        required=False,
        help_text=_("Labels affected only by the wording are then kept."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON,
        help_text=_("Recorded in the audit log."),
        widget=forms.TextInput,
    )
    only_some = forms.BooleanField(
        label=_("Limit which labels might change to the new option"),
        required=False,
        help_text=_("Otherwise annotators are asked again for every label."),
    )
    maybe_new = forms.MultipleChoiceField(
        label=_("Labels with the value"), required=False, widget=forms.CheckboxSelectMultiple
    )
    due_date = forms.DateField(
        label=_("Due date for new labels"), required=False, widget=forms.DateInput({"type": "date"})
    )

    def __init__(self, project: Project, shown: Impact, *args: Any, **kwargs: Any) -> None:
        """shown: the change without any choice, which says what there is to choose."""
        super().__init__(*args, **kwargs)
        self._values: dict[str, Value | None] = {
            str(at): row.value for at, row in enumerate(shown.values) if row.labels
        }
        if not shown.change.touches_wording:
            del self.fields["same_meaning"], self.fields["reason"]
        if not (shown.change.of("added") and self._values):
            del self.fields["only_some"], self.fields["maybe_new"]
        else:
            self.fields["maybe_new"].choices = [  # type: ignore[attr-defined]
                (key, shown.values[int(key)].label or _("can’t tell")) for key in self._values
            ]
        self._people = {
            member.user.username: member.user
            for member in members_of(project)
            if member.is_active and member.user.is_active
        }
        choices = [("", _("No one: reviewers decide")), *((name, user.name) for name, user in self._people.items())]
        self.left_behind = shown.left_behind
        for person in self.left_behind:
            self.fields[f"hand_to_{person.rater_id}"] = forms.ChoiceField(
                label=_("Replacement for %(name)s") % {"name": person.name},
                choices=choices,
                required=False,
            )

    def choices(self) -> Choices:
        """Only of a valid form."""
        said = self.cleaned_data
        some = tuple(self._values[key] for key in said.get("maybe_new", ())) if said.get("only_some") else None
        return Choices(
            same_meaning=said.get("same_meaning", False), reason=said.get("reason", "").strip(), maybe_new=some
        )

    def hand_to(self) -> dict[int, User]:
        chosen = {person.rater_id: self.cleaned_data[f"hand_to_{person.rater_id}"] for person in self.left_behind}
        return {rater: self._people[name] for rater, name in chosen.items() if name}
