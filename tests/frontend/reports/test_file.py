"""Plots that may stand in any page, and a report that is one file and needs nothing else."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.conf import settings
from django.utils import translation

from annotate.models import Project
from frontend.reports.file import report_html
from frontend.reports.in_words import plot_in_words
from frontend.reports.plots.differences import MAX_ROWS, DifferenceRow, differences_plot
from frontend.reports.plots.ink import plain
from frontend.reports.plots.judge import histogram_plot, reliability_plot, sweep_plot
from judges.models import AlignmentReport
from judges.reports.write import freeze_report
from tests.database import copied_from_world
from tests.judges.building import add_judge, add_samples, graded_project, scores_like

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script> & $x^2$ “\u0007” 评委"
PEOPLE = {"value": 0.6, "low": 0.5, "high": 0.7}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> AlignmentReport:
    project, samples = graded_project()
    Project.objects.filter(pk=project.pk).update(name=HOSTILE.replace("\u0007", ""))
    more = add_samples(project, ["<b>bold</b>"], answer="<img src=x onerror=alert(2)>")
    add_judge(project, "good", samples, scores_like(samples), dimension="grade")
    add_judge(project, HOSTILE, samples, scores_like(samples, wrong_every=3), dimension="grade")
    add_judge(project, "javascript:alert(3)", {**samples, **more}, [("<b>bold</b>", "answer", 3)], dimension="grade")
    project.refresh_from_db()
    return freeze_report(criterion=project.criteria.get(key="grade"))


report = copied_from_world()


def check_svg(source: str) -> ET.Element:
    root = ET.fromstring(plot_in_words(source))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("viewBox")
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    # The title and description, first in the element, are what its label points to.
    title, description = root[0], root[1]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert title.text
    assert description.text
    for element in root.iter():
        assert element.tag.removeprefix(SVG) not in {"style", "script", "image", "a", "foreignObject", "metadata"}
        for attribute, value in element.attrib.items():
            assert attribute != "style"
            assert not attribute.startswith("on")
            if attribute == "href":
                assert value.startswith("#")
                assert value[1:] in ids
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target[1:] in ids
    return root


def test_the_plots_of_a_report(report: AlignmentReport) -> None:
    kinds = ("sweep", "histogram", "reliability", "triage")
    of_judges = {f"{kind}-{place}" for kind in kinds for place in (1, 2)}
    assert set(report.plots) == {"compared", "planning", *of_judges}
    roots = [check_svg(source) for source in report.plots.values()]
    ids = [element.attrib["id"] for root in roots for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids)), "ids of two plots in one page"
    words = "".join(roots[0].itertext())
    assert "Between annotators: " in words
    assert "<script>alert(1)</script> & $x^2$" in words
    assert "\u0007" not in words


def test_the_same_figures_draw_the_same_plot() -> None:
    rows = [DifferenceRow("a", PEOPLE), DifferenceRow("b", {"value": None, "low": None, "high": None})]
    assert differences_plot("compared", rows) == differences_plot("compared", rows)


@pytest.mark.parametrize(
    "estimate",
    [
        PEOPLE,
        {"value": -0.9, "low": -1.0, "high": -0.7},
        {"value": 1.0, "low": None, "high": None},
        {"value": None, "low": None, "high": None},
    ],
)
def test_a_difference_of_any_estimate(estimate: dict[str, Any]) -> None:
    root = check_svg(differences_plot("compared", [DifferenceRow(HOSTILE, estimate)]))
    assert ("undefined" in "".join(root.itertext())) == (estimate["value"] is None)


def test_a_plot_of_differences_has_an_edge() -> None:
    rows = [DifferenceRow(f"pair {n}", PEOPLE) for n in range(MAX_ROWS + 2)]
    words = "".join(check_svg(differences_plot("compared", rows)).itertext())
    assert "2 more pairs are in the table only." in words
    assert f"pair {MAX_ROWS}" not in words


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("chosen", [None, 0.0])
def test_sweep(size: int, chosen: float | None) -> None:
    curve: dict[str, list[float | None]] = {
        "thresholds": [float(n) for n in range(size)],
        "kappa": [0.1 * n for n in range(size)],
        "tpr": [None] * size,
        "tnr": [0.5] * size,
    }
    root = check_svg(sweep_plot("sweep-1", HOSTILE, curve, chosen))
    assert ("chosen on dev" in "".join(root.itertext())) == (chosen is not None)


@pytest.mark.parametrize("chosen", [None, 0.5])
@pytest.mark.parametrize(
    "histogram",
    [
        {"edges": [0.0, 0.5, 1.0], "passes": [1, 12000], "fails": [3, 0]},
        {"edges": [0.5, 0.5], "passes": [0], "fails": [4]},
    ],
)
def test_histogram(histogram: dict[str, Any], chosen: float | None) -> None:
    words = "".join(check_svg(histogram_plot("histogram-1", HOSTILE, histogram, chosen)).itertext())
    assert ("chosen on dev" in words) == (chosen is not None)
    assert f"{sum(histogram['fails'])} that they fail" in " ".join(words.split())


def test_reliability() -> None:
    point = {"predicted": 0.4, "observed": 0.5, "low": 0.3, "high": 0.7}
    points = [point, {**point, "predicted": 0.9}, {**point, "low": None, "high": None}]
    words = "".join(check_svg(reliability_plot("reliability-1", HOSTILE, points)).itertext())
    assert "3 groups" in words
    assert "In 1 of the 2 with an interval" in words


def test_text_of_a_plot_is_short_and_storable() -> None:
    assert plain("a\x00b\ud800c") == "abc"
    assert plain("x" * 41) == "x" * 39 + "…"


class Elements(HTMLParser):
    """Every element of a page with its attributes, and which are left open."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_file_needs_nothing_and_runs_nothing(report: AlignmentReport) -> None:
    text = report_html(report)
    elements = Elements(text)
    assert elements.open == []
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    assert [tag for tag, _ in elements.found].count("style") == 1
    ids = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
    for tag, attributes in elements.found:
        assert not {"src", "srcset", "style", "action", "data", "ping", "background"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")]
        if "href" in attributes:
            link = attributes["href"] or ""
            assert link.startswith("#")
            assert link[1:] in ids
    # Nothing to load, from style sheets neither. What is left of addresses are XML's names.
    assert not re.search(r"@import|url\(\s*[^#\s]", text)
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= {"http://www.w3.org/2000/svg"}
    # It says what the report says.
    assert report.fingerprint in text
    assert f"Report {report.number} of" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>" not in text
    for section in ("Judges vs. annotators", "Who agrees with whom", "Between annotators", "Annotators", "More labels"):
        assert f">{section}</h2>" in text
    # The first screen draws its own picture; comparing and triage are pages of their own.
    shown = [name for name in report.plots if name != "compared" and not name.startswith("triage")]
    assert text.count('class="plot"') == len(shown)
    assert all(plot_in_words(report.plots[name]) in text for name in shown)
    for section in ("Threshold curve", "Score distribution", "Calibration", "Scores as grades"):
        assert f">{section}</span>" in text
    # What only a script could move is left out, and what it would show at first is there.
    assert 'type="range"' not in text
    assert "All dev units at" in text


def test_the_summary_comes_first_and_all_else_is_folded(report: AlignmentReport) -> None:
    text = report_html(report)
    body = text[text.index("<main>") :]
    # Whatever stands in a fold is left out.
    while "<details" in body:
        end = body.index("</details>")
        start = body.rindex("<details", 0, end)
        body = body[:start] + body[end + len("</details>") :]
    words = re.sub(r"<[^>]+>", " ", body).split()
    assert "agrees best with annotators" in " ".join(words)
    assert len(words) <= 250
    # Each part of it explains itself once.
    for part in re.split(r'<details class="(?:fold|part)">|<section ', text)[1:]:
        assert part.count("How is this computed?") <= 1


def test_the_file_is_in_the_readers_language(report: AlignmentReport) -> None:
    with translation.override("zh-hans"):
        text = report_html(report)
    assert '<html lang="zh-hans">' in text
    assert "评判器" in text


def test_the_file_may_load_and_run_nothing(report: AlignmentReport) -> None:
    """By a policy in the file: nobody serves it with a header."""
    page = report_html(report)
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    (css,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashed = b64encode(sha256(css.encode()).digest()).decode()
    said = dict(part.split(" ", 1) for part in policy.split("; "))
    assert said == {
        "default-src": "'none'", "style-src": f"'sha256-{hashed}'", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    assert page.index("http-equiv") < page.index("<title>") < page.index("<style>")


def test_every_page_that_leaves_the_server_has_a_policy() -> None:
    """The other templates are pages; a new one that is a file of its own is found here."""
    whole = [
        path for path in (settings.BASE_DIR / "frontend").rglob("*.html") if "<!doctype" in path.read_text().lower()
    ]
    files = {"report_file.html", "experiment_file.html"}
    assert {path.name for path in whole} == {"base.html"} | files
    for path in whole:
        assert ("Content-Security-Policy" in path.read_text()) is (path.name in files)
