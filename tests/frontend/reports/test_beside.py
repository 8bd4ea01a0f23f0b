"""The sections on one judge beside people: in words, in tables and in plots, and kind where there is nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.template.loader import render_to_string

from alignment.report import Evidence, JudgeScores, report_figures
from alignment.report.evidence import Criterion as Asked
from alignment.report.evidence import Option, UnitKey
from annotate.core.text_tables import figure
from annotate.models import Criterion
from frontend.reports.file import report_html
from frontend.reports.in_words import plot_in_words
from frontend.reports.judge import judge_context
from frontend.reports.plots.of_report import report_plots
from frontend.reports.plots.spread import MAX_ROWS, slices_plot, weeks_plot
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.conftest import ROOT
from tests.frontend.reports.test_file import check_svg
from tests.judges.building import add_judge, graded_project, scores_like

GRADES = tuple(Option(grade, str(grade)) for grade in (1, 2, 3, 4, 5))
GRADE = Asked("grade", 1, "Grade", "answer", "ordinal", "How good?", GRADES, (4, 5))
HOSTILE = "<script>alert(1)</script> $x^2$"


def everything(count: int = 240) -> Evidence:
    """Three people in ten weeks, a judge that was asked twice and is lost on one language."""
    units: list[UnitKey] = [(f"s{place:03}", "answer") for place in range(count)]
    truth = [1 + place * 7 % 5 for place in range(count)]
    rows = [
        (unit, name, max(1, min(5, truth[place] + (shift if (place + turn) % 6 == 0 else 0))), place)
        for place, unit in enumerate(units)
        for turn, (name, shift) in enumerate((("ann", 1), ("ben <b>", -2), ("chen", 2)))
    ]
    lost = {unit for place, unit in enumerate(units) if place % 3 == 0}
    numbers = {
        unit: (6 - truth[place]) / 5 if unit in lost and place % 2 else truth[place] / 5
        for place, unit in enumerate(units)
    }
    again = {unit: [1 - score if place % 9 == 0 else score] for place, (unit, score) in enumerate(numbers.items())}
    return Evidence(
        criterion=GRADE,
        seed=3,
        units=[unit for unit, _, _, _ in rows],
        raters=[name for _, name, _, _ in rows],
        values=[value for _, _, value, _ in rows],
        verdicts={},
        judges=[JudgeScores("judge", "1", "grade", True, numbers, again=again)],
        is_dev={unit[0]: place % 4 < 2 for place, unit in enumerate(units)},
        days=[(date(2026, 3, 2) + timedelta(days=place * 70 // count)).isoformat() for _, _, _, place in rows],
        metadata={
            unit[0]: {"language": HOSTILE if unit in lost else "en", "id": place} for place, unit in enumerate(units)
        },
    )


def rendered(evidence: Evidence) -> tuple[dict[str, Any], dict[str, str], str]:
    result = report_figures(evidence)
    plots = report_plots(result)
    row = result["judges"][0]
    report = AlignmentReport(result=result, plots=plots, criterion=Criterion(key="grade"))
    judge = judge_context(report, 0)
    return row, plots, render_to_string("reports/judge_fragment.html", {"judge": judge, "help_url": "/help/"})


class Words(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.said).split())

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@pytest.mark.django_db
def test_everything_in_words() -> None:
    row, plots, page = rendered(everything())
    text = Words(page).text
    difference = row["people"]["difference"]
    assert f"Judge − person: {figure(difference['value'], 2)}" in text
    assert "the judge may lose up to 20 units in 100" in text
    assert f"ω = {row['people']['test']['winning_rate_clustered']['value']:.2f}" in text
    assert f"Worse than the rest: language {HOSTILE}." in text
    assert "id: 120 values; more than 20 values" in text
    assert [part["worse"] for part in row["slices"]["slices"]] == [True, False]
    assert "Not available" not in text
    assert "120 units with 240 results" in text
    assert "equally often on passes and fails" in text
    assert "at different rates on passes and fails" in text
    assert "Its scores run from 0 to 1; they are mapped to the annotators’ scale, 1 to 5" in text
    assert "2026-W10" in text
    assert "<script>" not in page
    assert "<b>ben" not in page
    for anchor in ("the-human-ceiling", "the-alternative-annotator-test", "pr-auc", "slices", "week-by-week"):
        assert f'href="/help/#{anchor}"' in page
    assert {"slices-1", "weeks-1"} <= set(plots)
    for name in ("slices-1", "weeks-1"):
        check_svg(plots[name])
        assert plot_in_words(plots[name]) in page


@pytest.mark.django_db
def test_confidence_has_a_part_of_its_own_where_there_is_one() -> None:
    found = everything()
    (judge,) = found.judges
    assert "Confidence" not in Words(rendered(found)[2]).text
    confidence = {unit: 0.7 + place % 10 / 33 for place, unit in enumerate(judge.numbers)}
    sure = replace(found, judges=[replace(judge, judge=HOSTILE, confidence=confidence)])
    row, plots, text = rendered(sure)
    assert row["confidence"]["units"] == 120
    said = Words(text).text
    assert f"{figure(row['confidence']['as_is']['brier']['value'], 3)} (" in said
    assert "Groups of dev units by the judge’s confidence" in said
    assert "share that agrees with annotators" in "".join(check_svg(plots["confidence-1"]).itertext())
    on_test = {unit: one for unit, one in confidence.items() if not found.is_dev[unit[0]]}
    _row, plots, text = rendered(replace(found, judges=[replace(judge, confidence=on_test)]))
    assert "None of the judge’s 120 decisions on the dev set has a confidence" in Words(text).text
    assert "confidence-1" not in plots


@pytest.mark.django_db
def test_one_decision_and_no_second() -> None:
    """What else was measured is evidence, whatever it says."""
    text = Words(rendered(everything())[2]).text
    assert "Don’t use it yet" in text
    for verdict in ("human ceiling:", "take the place", "passes the alternative", "does not pass"):
        assert verdict not in text
    assert text.count("How is this computed?") <= text.count("Pass and fail") + 14


def test_every_anchor_is_a_section_of_the_statistics() -> None:
    from re import findall, sub

    headings = findall(r"(?m)^##+ (.+)$", (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8"))
    slugs = {sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    used = set()
    for template in (ROOT / "frontend" / "reports" / "templates" / "reports").glob("judge_*.html"):
        used |= set(findall(r'anchor="([^"]+)"', template.read_text(encoding="utf-8")))
    assert {"slices", "peoples-errors"} <= used <= slugs


@pytest.mark.django_db
def test_what_does_not_apply_is_not_listed_and_what_is_missing_says_why() -> None:
    found = everything()
    kept = [place for place, name in enumerate(found.raters) if name == "ann"]
    single = replace(
        found,
        units=[found.units[place] for place in kept],
        raters=["ann"] * len(kept),
        values=[found.values[place] for place in kept],
        days=[],
        metadata={},
        judges=[replace(found.judges[0], again={})],
    )
    row, plots, page = rendered(single)
    text = Words(page).text
    missing = text[text.index("Not available") :]
    for title in ("Human ceiling", "Data slices", "Week by week", "Repeatability", "Human error"):
        assert title in missing
        assert title not in text[: text.index("Not available")]
    assert "No unit has labels of two annotators yet." in missing
    assert "The samples carry no metadata" in missing
    assert "This judge was asked only once about each unit." in missing
    assert row["values"]["pr_auc"]["passes"]["value"] is not None
    assert not {"slices-1", "weeks-1"} & set(plots)
    assert "None" not in text


@pytest.mark.django_db
def test_few_common_units_are_no_ceiling_and_no_test() -> None:
    text = Words(rendered(everything(16))[2]).text
    assert "Human ceiling No annotator has 10 units in common" in text
    assert "Alternative-annotator test" not in text


@pytest.mark.django_db
def test_a_judge_that_is_always_right_differs_nowhere() -> None:
    found = everything()
    right = {unit: 1.0 if value >= 4 else 0.0 for unit, value in zip(found.units[::3], found.values[::3], strict=True)}
    found = replace(found, values=[value for value in found.values[::3] for _ in range(3)])
    row, plots, page = rendered(replace(found, judges=[replace(found.judges[0], numbers=right, again={})]))
    text = Words(page).text
    assert {part["difference"]["value"] for part in row["slices"]["slices"]} == {0.0}
    assert "No slice differs from the rest." in text
    assert "Too few labels" not in text
    assert "Wrong decisions over all weeks: 0.0%" in text
    assert "slices-1" in plots


def estimate(value: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high}


def part(value: str, difference: dict[str, Any], worse: bool | None = False) -> dict[str, Any]:
    return {"key": HOSTILE, "value": value, "difference": difference, "worse": worse}


def test_parts_in_a_plot() -> None:
    undefined = part("few", {"value": None, "low": None, "high": None}, None)
    assert slices_plot("slices-1", "judge", [part("a", estimate(0.1)), undefined]) is None
    rows = [part(f"v{n}", estimate(-0.3, -0.5, -0.1), n == 0) for n in range(MAX_ROWS + 2)]
    source = slices_plot("slices-1", HOSTILE, [*rows, undefined])
    assert source is not None
    words = "".join(check_svg(source).itertext())
    assert "v0: −0.30 [−0.50, −0.10], worse than the rest." in words
    assert "2 more slices are in the table only." in words
    assert "few" not in words


def test_weeks_in_a_plot() -> None:
    def week(name: str, monday: str, found: dict[str, Any]) -> dict[str, Any]:
        return {"week": name, "monday": monday, "units": 12, "error": found}

    first = week("2026-W53", "2026-12-28", estimate(0.25, 0.1, 0.5))
    assert weeks_plot("weeks-1", "judge", [first], estimate(0.25)) is None
    source = weeks_plot("weeks-1", HOSTILE, [first, week("2027-W04", "2027-01-25", estimate(0.0))], estimate(0.2))
    assert source is not None
    words = "".join(check_svg(source).itertext())
    assert "2026-W53: 25.0% wrong of 12 units." in words
    assert "All weeks: 20.0%." in words


@pytest.mark.django_db
def test_the_file_holds_the_sections_and_leads_nowhere() -> None:
    project, samples = graded_project()
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    report: AlignmentReport = freeze_report(criterion=project.criteria.get(key="grade"))
    text = report_html(report)
    for heading in ("Human ceiling", "Without a threshold", "Week by week", "Human error"):
        assert f">{heading}</" in text
    assert "Statistics reference" not in text[text.index('class="judge-evidence"') :]
