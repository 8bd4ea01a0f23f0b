"""Which units a list shows, as its address says it. With one criterion its options are values to choose by."""

from __future__ import annotations

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy, pgettext_lazy

from annotate.core.blindness import Reader
from annotate.models import Project
from annotate.models.label import VerdictMethod
from annotate.verdicts.samples_read import Agreement
from annotate.verdicts.units_read import Units
from annotate.verdicts.wanted_units_read import SORTS, WALKED, Chosen, UnitStatus, WantedUnits
from frontend.batches.list_filter import ANY, ListFilter, search_field, text_of
from judges.reports.units_read import Against, compared_units, scored_units
from judges.versions.read import judges_of

# What people say of a judge's answers, before the judge's name in the address.
AGAINST = {
    Against.DISAGREES: gettext_lazy("disagrees with annotators"),
    Against.AGREES: gettext_lazy("agrees with annotators"),
    Against.UNSCORED: gettext_lazy("no score"),
}


class UnitFilter(ListFilter):
    sorts, walked = SORTS, WALKED
    main = ("criterion", "status", "value")
    more = ("agreement", "method", "judge", "batch", "guidelines")

    q = search_field(gettext_lazy("Unit text or sample ID"))
    status = forms.ChoiceField(label=gettext_lazy("Status"), required=False, choices=[ANY, *UnitStatus.choices])
    value = forms.ChoiceField(
        label=gettext_lazy("Value"),
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("“%(value)s” is no option of the chosen criterion. Choose another value.")
        },
    )
    method = forms.ChoiceField(
        label=pgettext_lazy("of a verdict", "Resolved by"), required=False, choices=[ANY, *VerdictMethod.choices]
    )
    judge = forms.ChoiceField(
        label=gettext_lazy("Judge"),
        required=False,
        help_text=gettext_lazy(
            "Judges are compared with resolved units as in the current reports. The test set is excluded."
        ),
        error_messages={"invalid_choice": gettext_lazy("“%(value)s” is no judge of this project.")},
    )
    batch = forms.ChoiceField(
        label=gettext_lazy("Batch"),
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Batch %(value)s no longer exists in this project.")},
    )

    def __init__(self, project: Project, asked: QueryDict, *, reader: Reader) -> None:
        super().__init__(project, asked, reader=reader)
        criterion = next((one for one in self.criteria if one.key == asked.get("criterion")), None)
        self._values = {text_of(option["value"]): option["value"] for option in criterion.options} if criterion else {}
        options = criterion.options if criterion else []
        shown = [(text_of(option["value"]), option.get("label") or option["value"]) for option in options]
        self.fields["value"].choices = [ANY, *shown]  # type: ignore[attr-defined]
        if not shown and not asked.get("value"):
            del self.fields["value"]
        batches = project.batches.order_by("-number").values_list("number", "name")
        self.fields["batch"].choices = [ANY, *((str(number), f"{number} · {name}") for number, name in batches)]  # type: ignore[attr-defined]
        judges = [
            (one.name, [(f"{against}:{one.name}", words) for against, words in AGAINST.items()])
            for one in judges_of(project)
        ]
        self.fields["judge"].choices = [ANY, *judges]  # type: ignore[attr-defined]

    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.main if name in self.fields]

    def wanted(self) -> WantedUnits:
        """Of a valid form."""
        given = self.given()
        against, _colon, judge = given.get("judge", "").partition(":")
        key, is_unscored = given.get("criterion", ""), against == Against.UNSCORED
        compared = None
        if judge and not is_unscored:
            agreeing = against == Against.AGREES
            compared = compared_units(self.project, judge, key, agreeing=agreeing, reader=self.reader)
        return WantedUnits(
            words=given.get("q", ""),
            criterion=key,
            status=given.get("status", ""),
            value=self._values.get(given.get("value", "")),
            method=given.get("method", ""),
            agreement=given.get("agreement", ""),
            outdated="guidelines" in given,
            batch=int(given["batch"]) if "batch" in given else None,
            metadata=self.metadata(),
            among=compared,
            without=scored_units(self.project, judge, key, reader=self.reader) if is_unscored else None,
            sort=self.sort,
        )

    def found(self) -> Units:
        return Units(self.project, self.wanted(), reader=self.reader)

    def chosen(self) -> Chosen:
        return self.found().chosen()

    def is_about_doubt(self) -> bool:
        given = self.given()
        return (
            given.get("judge", "").startswith(f"{Against.DISAGREES}:")
            or given.get("status") in (UnitStatus.DISPUTED, UnitStatus.REOPENED)
            or given.get("agreement") == Agreement.DISAGREE
        )
