"""Which samples a list shows, as its address says it."""

from __future__ import annotations

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotate.core.blindness import Reader
from annotate.models import Project
from annotate.projects.read import rated_criteria
from annotate.verdicts.samples_read import SORTS, WALKED, Agreement, Samples, Status, Wanted
from annotate.verdicts.wanted_units_read import Chosen
from frontend.batches.list_filter import ANY, ListFilter, search_field
from judges.reports.read import latest_report
from judges.versions.read import judges_of


class SampleFilter(ListFilter):
    sorts, walked = SORTS, WALKED
    main, more = ("status", "criterion", "agreement"), ("judge", "guidelines", "abstained")

    q = search_field(gettext_lazy("ID, question or answer"))
    status = forms.ChoiceField(label=gettext_lazy("Status"), required=False, choices=[ANY, *Status.choices])
    judge = forms.ChoiceField(
        label=gettext_lazy("Disagrees with judge"),
        required=False,
        help_text=gettext_lazy(
            "“Disagrees with judge” finds the disagreements listed in the current reports. The test set is excluded."
        ),
        error_messages={"invalid_choice": gettext_lazy("The judge “%(value)s” no longer exists in this project.")},
    )
    abstained = forms.ChoiceField(
        label=gettext_lazy("Answer"),
        required=False,
        choices=[ANY, ("yes", gettext_lazy("abstains")), ("no", gettext_lazy("doesn’t abstain"))],
    )

    def __init__(self, project: Project, asked: QueryDict, *, reader: Reader) -> None:
        super().__init__(project, asked, reader=reader)
        self.fields["judge"].choices = [ANY, *((one.name, one.name) for one in judges_of(project))]  # type: ignore[attr-defined]

    def wanted(self) -> Wanted:
        """Of a valid form."""
        given = self.given()
        return Wanted(
            words=given.get("q", ""),
            status=given.get("status", ""),
            criterion=given.get("criterion", ""),
            agreement=given.get("agreement", ""),
            outdated="guidelines" in given,
            abstained={"yes": True, "no": False}.get(given.get("abstained", "")),
            metadata=self.metadata(),
            among=self._disagreeing(given["judge"], given.get("criterion", "")) if "judge" in given else None,
            sort=self.sort,
        )

    def found(self) -> Samples:
        return Samples(self.project, self.wanted(), reader=self.reader)

    def chosen(self) -> Chosen:
        return Chosen(0, self.found().keys(), set())

    def is_about_doubt(self) -> bool:
        given = self.given()
        return (
            "judge" in given or given.get("status") == Status.DISPUTED or given.get("agreement") == Agreement.DISAGREE
        )

    def _disagreeing(self, judge: str, key: str) -> set[int]:
        """As reports tell this reader: nothing of the test half, or of what they still have to label or decide."""
        criteria = [one for one in rated_criteria(self.project) if key in ("", one.key)]
        reports = [latest_report(one, reader=self.reader) for one in criteria]
        return {
            row["sample"]
            for report in reports
            if report is not None
            for one in report.result.get("judges", ())
            if one["judge"] == judge
            for row in one["disagreements"]
        }
