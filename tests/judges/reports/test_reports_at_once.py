"""Two who ask for the same report at the same moment."""

from __future__ import annotations

import pytest

from judges.models import AlignmentReport, SplitMember
from judges.reports.write import freeze_report
from tests.annotate.factories import concurrently
from tests.judges.building import add_judge, graded_project, scores_like


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_report() -> None:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    grade = project.criteria.get(key="grade")
    reports = concurrently(*[lambda: freeze_report(criterion=grade)] * 2)
    assert [report.number for report in reports] == [1, 1]
    assert AlignmentReport.objects.count() == 1
    assert SplitMember.objects.count() == len({*SplitMember.objects.values_list("sample_id", flat=True)}) > 0
