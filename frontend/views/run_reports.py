"""From a run to what people are held against: the reports on which its scores count."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.projects.read import current_criteria
from frontend.views.base import ProjectPage
from frontend.views.report_parts import judge_url
from judges.models import Run
from judges.selectors.judges_page import coverage_of
from judges.selectors.reports import report_state


@dataclass(frozen=True, slots=True)
class ReportAfter:
    """url: of the judge in an up-to-date report; "" where a new report has to be made first."""

    key: str
    name: str
    url: str


def reports_after(page: ProjectPage, run: Run) -> list[ReportAfter]:
    """Of the criteria that the run's version is held against by name; of all on the same kind of unit when there is
    none of that name."""
    measures, _coverage = coverage_of([run.version])[run.version.pk]
    criteria = list(current_criteria(page.project))
    named = {one.dimension: one for one in measures}
    held = [criterion for criterion in criteria if criterion.key in named]
    held = held or [criterion for criterion in criteria if criterion.unit in {one.unit for one in measures}]
    found = []
    for criterion in held:
        state = report_state(criterion)
        url = ""
        if state.report is not None and not state.is_out_of_date:
            for row in state.report.result["judges"]:
                if row["judge"] == run.version.judge.name:
                    url = judge_url(page, criterion.key, row["judge"], row["dimension"])
                    break
        found.append(ReportAfter(criterion.key, criterion.name, url))
    return found
