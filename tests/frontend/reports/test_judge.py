"""What share of all passes, on a judge's page and in the file: two figures where there are, and why where not."""

from __future__ import annotations

import pytest

from frontend.reports.file import report_html
from frontend.reports.judge import judge_context, population_context
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.database import copied_from_world
from tests.frontend.reports.test_beside import Words
from tests.judges.building import add_judge, add_samples, graded_project, scores_like

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> AlignmentReport:
    """Of one judge every score has a label beside it; the other scored 200 samples more, nearly all of them high."""
    project, samples = graded_project()
    add_judge(project, "known", samples, scores_like(samples), dimension="grade")
    more = [f"t{place:03}" for place in range(200)]
    high = [(name, "answer", 0.2 if place % 10 == 0 else 1.0) for place, name in enumerate(more)]
    add_judge(project, "wide", add_samples(project, more), [*scores_like(samples), *high], dimension="grade")
    return freeze_report(criterion=project.criteria.get(key="grade"))


report = copied_from_world()


def test_the_table_and_the_way_to_it(report: AlignmentReport) -> None:
    row = report.result["judges"][1]["population"]
    assert row["tuned"]["value"] > row["classical"]["value"]
    assert (row["labelled"]["units"], row["unlabelled"]) == (16 - row["ties"], {"units": 200, "samples": 200})
    shown = judge_context(report, 1)["population"]
    page = report_html(report)
    text = Words(page).text
    assert 'id="judge-2-population"' in page
    for name in ("classical", "tuned"):
        assert f"{row[name]['value']:.1%} {row[name]['low']:.1%} to {row[name]['high']:.1%}" in text
    assert f"PPI++, weight {row['weight']:.2f}" in text
    assert "right only if the labelled units were drawn at random" in text
    width, alone = (row[name]["high"] - row[name]["low"] for name in ("tuned", "classical"))
    assert shown["narrower"] == f"{1 - width / alone:.1%}"
    assert f"make the interval {shown['narrower']} narrower" in text


def test_nothing_is_carried_over_where_all_have_labels(report: AlignmentReport) -> None:
    text = Words(report_html(report)).text
    assert "every scored unit has a label: nothing to carry over" in text
    assert text.count("PPI++") == 1


def test_a_drawn_batch_points_to_the_weighted_figures(report: AlignmentReport) -> None:
    assert "weighted figures" not in Words(report_html(report)).text
    report.result["judges"][1]["population"]["drawn"] = True
    text = Words(report_html(report)).text
    assert "use the weighted figures under “For all samples”, not these" in text


def test_a_judge_that_does_not_help_narrows_nothing(report: AlignmentReport) -> None:
    row = report.result["judges"][1]["population"]
    assert population_context({**row, "tuned": row["classical"]})["narrower"] == ""
    assert population_context({**row, "tuned": {**row["tuned"], "low": None, "high": None}})["narrower"] == ""
