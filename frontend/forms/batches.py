from __future__ import annotations

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Criterion, Membership, Project, User
from annotate.selectors.metadata import KnownKey, known_metadata
from annotate.selectors.projects import current_criteria, members_of
from annotate.services.batches import MAX_SEED, earliest_due_date

METHODS = (
    ("all", _("All samples")),
    ("filter", _("Those whose metadata match the choice below")),
    ("random", _("A random draw (of those that match, if something is chosen below)")),
)


class WhoLabelsForm(forms.Form):
    """A batch of samples that are known already: its name, who labels it, and until when."""

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
        # For the browser's calendar; the service decides.
        self.fields["due_date"].widget.attrs["min"] = earliest_due_date().isoformat()
        _offer_members(self.fields["annotators"], project)


class BatchForm(WhoLabelsForm):
    method = forms.ChoiceField(label=_("Samples"), choices=METHODS, initial="all", widget=forms.RadioSelect)
    n = forms.IntegerField(label=_("How many to draw"), min_value=1, required=False)
    seed = forms.IntegerField(
        label=_("Seed of the draw"),
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text=_("The same seed draws the same samples again. Empty: one is drawn and kept."),
    )
    criteria = forms.ModelMultipleChoiceField(
        label=_("Criteria"),
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one criterion to ask.")},
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(project, *args, **kwargs)
        self.known = known_metadata(project)
        for index, known in enumerate(self.known):
            self.fields[f"meta_{index}"] = _metadata_field(known)
        criteria = self.fields["criteria"]
        criteria.queryset = current_criteria(project)  # type: ignore[attr-defined]
        criteria.label_from_instance = lambda c: f"{c.name} ({c.get_unit_display().lower()})"  # type: ignore[attr-defined]

    def metadata_fields(self) -> list[forms.BoundField]:
        return [self[f"meta_{index}"] for index in range(len(self.known))]

    def selection(self) -> dict[str, Any]:
        """The choice of samples as services.batches takes it; it checks it too."""
        given = self.cleaned_data
        if given["method"] == "all":
            return {"method": "all"}
        conditions = {
            known.key: json.loads(given[f"meta_{index}"])
            for index, known in enumerate(self.known)
            if given[f"meta_{index}"]
        }
        selection: dict[str, Any] = {"method": given["method"], "filter": conditions}
        if given["method"] == "random":
            selection |= {"n": given["n"], "seed": given["seed"]}
        return selection


def _offer_members(field: forms.Field, project: Project) -> None:
    """The choices of a field for people: the project's active members."""
    # list(): the choices are shown and checked; people of a project are few.
    members = list(members_of(project).filter(is_active=True, user__is_active=True))
    roles = {member.user_id: member for member in members}
    field.queryset = User.objects.filter(pk__in=roles).order_by("username")  # type: ignore[attr-defined]
    field.label_from_instance = lambda user: _person(roles[user.pk])  # type: ignore[attr-defined]


def _metadata_field(known: KnownKey) -> forms.ChoiceField:
    choices: list[tuple[str, Any]] = [("", _("any"))]
    choices += [(json.dumps(value.value), f"{value.shown} ({value.samples})") for value in known.values]
    return forms.ChoiceField(label=known.key, choices=choices, required=False)


def _person(member: Membership) -> str:
    return f"{member.user.name} ({member.get_role_display().lower()})"
