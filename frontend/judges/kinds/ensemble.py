"""Judges that learn from others how much each is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Project
from frontend.judges.kinds.base import ConfigForm, Group, Start, given
from frontend.judges.kinds.members import chosen_members, member_choices
from judges.models import JudgeKind


class EnsembleForm(ConfigForm):
    """On which criterion it learns, and from which judges."""

    criterion = forms.ChoiceField(
        label=_("Criterion"), help_text=_("It learns from human labels on this criterion, only in the dev set.")
    )
    members = forms.MultipleChoiceField(
        label=_("Members"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("At least two judges on the same kind of unit, with scores on the dev set."),
    )

    def __init__(self, project: Project, config: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(project, config, *args, **kwargs)
        criteria = project.criteria.filter(is_current=True).order_by("position")
        named = [(one.key, f"{one.name} ({one.get_unit_display()})") for one in criteria if one.passes]
        self.fields["criterion"].choices = named  # type: ignore[attr-defined]
        self.fields["members"].choices = member_choices(project, config)  # type: ignore[attr-defined]

    def initial_of(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {**given(config, "criterion"), "members": chosen_members(config)}

    def config(self) -> dict[str, Any]:
        chosen = [json.loads(one) for one in self.cleaned_data["members"]]
        members = [{"judge": judge, "version": version, "dimension": name} for judge, version, name, _unit in chosen]
        return {"criterion": self.cleaned_data["criterion"], "members": members}


def group(project: Project) -> Group:
    return Group(
        kind=JudgeKind.ENSEMBLE,
        title=gettext("Learned combination of judges"),
        text=gettext("Learns each judge’s weight on the dev set and gives one calibrated probability."),
        needs=gettext("needs judges with scores"),
        starts=[
            Start(
                key="ensemble",
                title=gettext("Ensemble"),
                text=gettext("The probability that annotators would pass the unit."),
                name="ensemble",
                config={"unit": "answer"},
            )
        ],
    )
