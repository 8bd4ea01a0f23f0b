from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.batches.criterion_change_read import MAX_REASON, Choices, Impact
from annotate.core.scales import Value
from annotate.models import Project, User
from annotate.projects.read import members_of


class ChangeForm(forms.Form):
    """What only the admin knows about a change, and who gives the touched labels anew."""

    same_meaning = forms.BooleanField(
        label=_("Only the wording changes; what is asked stays the same"),
        required=False,
        help_text=_("Labels that only the wording touches are kept then."),
    )
    reason = forms.CharField(
        label=_("Why the meaning stays"),
        required=False,
        max_length=MAX_REASON,
        help_text=_("The trail keeps it."),
        widget=forms.TextInput,
    )
    only_some = forms.BooleanField(
        label=_("Only some labels can be the new option now"),
        required=False,
        help_text=_("Otherwise every label is asked again, since each might be."),
    )
    maybe_new = forms.MultipleChoiceField(
        label=_("Those that say"), required=False, widget=forms.CheckboxSelectMultiple
    )
    due_date = forms.DateField(label=_("New labels due"), required=False, widget=forms.DateInput({"type": "date"}))

    def __init__(self, project: Project, shown: Impact, *args: Any, **kwargs: Any) -> None:
        """shown: the change without any choice, which says what there is to choose."""
        super().__init__(*args, **kwargs)
        self._values: dict[str, Value | None] = {
            str(at): row.value for at, row in enumerate(shown.values) if row.labels
        }
        if not shown.change.touches_wording:
            del self.fields["same_meaning"], self.fields["reason"]
        if not shown.change.of("added"):
            del self.fields["only_some"], self.fields["maybe_new"]
        else:
            self.fields["maybe_new"].choices = [  # type: ignore[attr-defined]
                (key, shown.values[int(key)].label or _("can't tell")) for key in self._values
            ]
        self._people = {
            member.user.username: member.user
            for member in members_of(project)
            if member.is_active and member.user.is_active
        }
        choices = [("", _("nobody: the reviewers decide")), *((name, user.name) for name, user in self._people.items())]
        self.left_behind = shown.left_behind
        for person in self.left_behind:
            self.fields[f"hand_to_{person.rater_id}"] = forms.ChoiceField(
                label=_("Instead of %(name)s, who can't be asked") % {"name": person.name},
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
