"""Judges that add up the scores of others, each with its weight."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.units import KIND_ORDER
from annotate.models import Project
from frontend.judges.kinds.base import Group, Start, TargetForm
from frontend.judges.kinds.members import chosen_members, member_choices
from judges.models import JudgeKind

MOST_ROWS = 20
FEWEST_ROWS = 4
BLANK_ROWS = 2


class MemberForm(forms.Form):
    """A member of a composite."""

    member = forms.ChoiceField(label=_("Judge"), required=False)
    weight = forms.FloatField(label=_("Weight"), required=False, widget=forms.NumberInput({"step": "any"}))
    flipped = forms.BooleanField(label=_("Reversed"), required=False)
    low = forms.FloatField(label=_("Lowest score"), required=False, widget=forms.NumberInput({"step": "any"}))
    high = forms.FloatField(label=_("Highest score"), required=False, widget=forms.NumberInput({"step": "any"}))

    def __init__(self, *args: Any, choices: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["member"].choices = [("", gettext("nothing")), *choices]  # type: ignore[attr-defined]

    def as_config(self, *, with_unit: bool) -> dict[str, Any]:
        filled = self.cleaned_data
        judge, version, dimension, unit = json.loads(filled["member"])
        bounds = [filled["low"], filled["high"]]
        return {
            "judge": judge,
            "version": version,
            "dimension": dimension,
            **({"unit": unit} if with_unit else {}),
            "weight": filled["weight"],
            "direction": "flipped" if filled["flipped"] else "as_is",
            **({} if bounds == [None, None] else {"range": bounds}),
        }


MemberRows = forms.formset_factory(MemberForm, extra=0, max_num=MOST_ROWS, absolute_max=MOST_ROWS)


class CompositeForm(TargetForm):
    """A weighted sum: of what, and how much each counts."""

    same = ("per", "normalised")

    per = forms.ChoiceField(
        label=_("Combine"),
        initial="unit",
        widget=forms.RadioSelect,
        choices=(
            ("unit", _("the judges’ scores, unit by unit")),
            ("sample", _("the judges’ mean scores over the parts of each answer")),
        ),
    )
    normalised = forms.BooleanField(
        label=_("Divide by the sum of the weights, to keep the members’ scale"),
        required=False,
        initial=True,
    )

    def __init__(
        self, project: Project, config: Mapping[str, Any], data: QueryDict | None = None, **given: Any
    ) -> None:
        super().__init__(project, config, data, kinds=KIND_ORDER, **given)
        filled = [
            _row_initial(one, key) for one, key in zip(config.get("members", ()), chosen_members(config), strict=True)
        ]
        blank = max(BLANK_ROWS, FEWEST_ROWS - len(filled))
        self.rows = MemberRows(
            data,
            prefix=f"{self.prefix}-member",
            initial=[*filled, *({} for _n in range(blank))],
            form_kwargs={"choices": member_choices(project, config)},
        )

    def is_valid(self) -> bool:
        return all([super().is_valid(), self.rows.is_valid()])

    def _given_rows(self) -> Iterator[MemberForm]:
        return (row for row in self.rows if row.cleaned_data.get("member"))

    def config(self) -> dict[str, Any]:
        per = self.cleaned_data["per"]
        return {
            **self.target(),
            "per": per,
            "normalised": self.cleaned_data["normalised"],
            "members": [row.as_config(with_unit=per == "sample") for row in self._given_rows()],
        }

    def refuse(self, path: str, message: str) -> None:
        parts = path.removeprefix("config.").split(".")
        if parts[0] != "members" or len(parts) < 3:
            super().refuse(path, message)
            return
        row = list(self._given_rows())[int(parts[1])]
        name = {"weight": "weight", "direction": "flipped", "range": "low"}.get(parts[2], "member")
        row.add_error(name, message)


def _row_initial(member: Mapping[str, Any], key: str) -> dict[str, Any]:
    low, high = member.get("range") or (None, None)
    flipped = member.get("direction") == "flipped"
    return {"member": key, "weight": member.get("weight"), "flipped": flipped, "low": low, "high": high}


def group(project: Project) -> Group:
    return Group(
        kind=JudgeKind.COMPOSITE,
        title=gettext("Weighted combination of judges"),
        text=gettext("Adds the scores of other judges with your weights."),
        needs=gettext("needs judges with scores"),
        starts=[
            Start(
                key="composite",
                title=gettext("Weighted sum"),
                text=gettext("Of scores per unit, or of means over an answer’s parts."),
                name="composite",
                config={"dimension": "overall", "unit": "answer"},
            )
        ],
    )
