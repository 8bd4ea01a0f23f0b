"""A report's summary as a PDF, read back."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.utils import translation
from pypdf import PdfReader

from frontend.reports.file import report_html, report_pdf
from frontend.reports.summary import summary_context
from judges.certificates.write import look_at_test
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.database import copied_from_world
from tests.judges.building import add_judge, graded_project, scores_like

HOSTILE = "<b>评委</b> & </font> $x$ " + "very-long-name-" * 12


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> AlignmentReport:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    add_judge(project, HOSTILE[:120], samples, scores_like(samples, wrong_every=3), dimension="grade")
    for place in range(12):
        add_judge(project, f"judge-{place}", samples, scores_like(samples, wrong_every=2), dimension="grade")
    return freeze_report(criterion=project.criteria.get(key="grade"))


report = copied_from_world()


def read(report: AlignmentReport) -> tuple[PdfReader, str]:
    found = PdfReader(BytesIO(report_pdf(report)))
    return found, " ".join(" ".join(page.extract_text() for page in found.pages).split())


def test_it_is_one_page_that_says_what_the_summary_says(report: AlignmentReport) -> None:
    found, text = read(report)
    assert len(found.pages) == 1
    screen = summary_context(report)["screen"]
    assert len(screen.judges) == 14
    for sentence in screen.sentences:
        assert " ".join(sentence.split())[:60] in text
    for one in screen.figures:
        assert one.title in text
        assert one.value in text
    for judge in screen.first:
        assert judge.kappa.interval in text
    assert "good" in text
    assert f"Report {report.number}" in text
    assert report.fingerprint[:16] in text
    assert "<b>" not in found.metadata.title


def test_in_chinese(report: AlignmentReport) -> None:
    with translation.override("zh-hans"):
        found, text = read(report)
    assert len(found.pages) == 1
    assert "评判器" in text
    assert "good" in text
    assert found.trailer["/Root"]["/Lang"] == "zh-hans"


def test_the_same_report_gives_the_same_bytes(report: AlignmentReport) -> None:
    assert report_pdf(report) == report_pdf(report)


def test_an_empty_report(report: AlignmentReport) -> None:
    report.result = {**report.result, "judges": []}
    found, text = read(report)
    assert len(found.pages) == 1
    assert "No judge has scores for this criterion yet." in text


def test_after_a_look_it_speaks_from_the_test_set(report: AlignmentReport) -> None:
    before = summary_context(report)["screen"].figures[0]
    assert before.where == "on dev"
    look = look_at_test(criterion=report.criterion, judge_name="good")
    _found, text = read(report)
    assert look.result["kappa"]["value"] is not None
    assert f"{look.result['kappa']['value']:.2f}" in text
    assert "on test" in text
    assert "on test" in " ".join(report_html(report).split())
