"""Which report is the present one, also when data come back to what they were, and when two ask at once."""

from __future__ import annotations

import pytest

from annotate.core.blindness import SYSTEM
from annotate.models import Criterion, User, Verdict
from judges.models import AlignmentReport, GroupSide
from judges.reports.read import report_state
from judges.reports.write import freeze_report
from tests.annotate.factories import concurrently, decide_unit
from tests.judges.building import add_judge, add_labels, add_samples, graded_project, make_project, scores_like

pytestmark = pytest.mark.django_db


def test_a_decision_taken_back_makes_the_earlier_report_the_present_one() -> None:
    project = make_project()
    criterion = Criterion.objects.get(project=project)
    samples = add_samples(project, ["a", "b"])
    add_labels(criterion, samples, [("a", "claim:0", "ana", "supported"), ("b", "claim:0", "ana", "contradicted")])
    add_judge(project, "judge", samples, [("a", "claim:0", 0.9), ("b", "claim:0", 0.2)])
    remy = User.objects.create_user("remy")
    dispute = Verdict.objects.create(sample=samples["a"], unit="claim:0", criterion=criterion, state="disputed")

    numbers: list[int] = []
    for value in ("supported", "contradicted", "supported"):
        dispute.refresh_from_db()
        decide_unit(remy, dispute, value, "So it is.")
        assert report_state(criterion, reader=SYSTEM).is_out_of_date == bool(numbers)
        numbers.append(freeze_report(criterion=criterion).number)
        state = report_state(criterion, reader=SYSTEM)
        assert not state.is_out_of_date
        assert state.report is not None
        assert state.report.number == numbers[-1]
    assert numbers == [1, 2, 1]


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_report() -> None:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    grade = project.criteria.get(key="grade")
    reports = concurrently(*[lambda: freeze_report(criterion=grade)] * 2)
    assert [report.number for report in reports] == [1, 1]
    assert AlignmentReport.objects.count() == 1
    assert GroupSide.objects.count() == len({*GroupSide.objects.values_list("group", flat=True)}) > 0
