"""The judge's page: a threshold to drag, and disagreements to walk through, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from annotate.models import Project, User
from annotate.projects.write import set_member
from judges.models import AlignmentReport, GroupSide, Score, Side
from judges.reports.write import freeze_report
from tests.clients import as_user
from tests.frontend.building import make_user
from tests.judges.building import GRADES, add_judge, graded_project, settle_all

if TYPE_CHECKING:
    from playwright.sync_api import Page

URL = "/p/desk/reports/grade/judge/"
Figures = tuple[str, str, str, list[int]]


@pytest.fixture
def lena(db: None) -> User:
    return make_user("Lena")


@pytest.fixture
def report(lena: User) -> AlignmentReport:
    """A judge whose scores follow the grades loosely, with as many digits as a page shows; 4 and 5 pass."""
    project, samples = graded_project(count=80)
    set_member(project=project, user=lena, role="reviewer")
    rng = np.random.default_rng(3)
    rows = [
        (name, "answer", round(GRADES[place % len(GRADES)] / 6 + float(rng.normal(0, 0.2)), 3))
        for place, name in enumerate(samples)
    ]
    add_judge(project, "loose", samples, rows, dimension="grade")
    report = freeze_report(criterion=project.criteria.get(key="grade"))
    settle_all(project)
    return report


def by_hand(project: Project, threshold: float) -> Figures:
    """Kappa, TPR, TNR as a page writes them, and tn, fp, fn, tp: from the scores in the database and the grades."""
    dev = set(GroupSide.objects.filter(criterion_key="grade", side=Side.DEV).values_list("group", flat=True))
    scores = dict(Score.objects.filter(sample__external_id__in=dev).values_list("sample__external_id", "number"))
    people, said = [], []
    for place, name in enumerate(project.samples.order_by("external_id").values_list("external_id", flat=True)):
        # Ben is one grade above Ann in every fifth: where only he passes, the two are split in half.
        ann = GRADES[place % len(GRADES)]
        ben = min(5, ann + 1) if place % 5 == 0 else ann
        if name in dev and (ann >= 4) == (ben >= 4):
            people.append(ann >= 4)
            said.append(scores[name] >= threshold)
    (tn, fp), (fn, tp) = confusion_matrix(people, said, labels=[False, True]).tolist()
    kappa = cohen_kappa_score(people, said)
    return f"{kappa + 0.0:.2f}", f"{tp / (tp + fn):.2f}", f"{tn / (tn + fp):.2f}", [tn, fp, fn, tp]


def shown(page: Page) -> tuple[float, Figures]:
    """The threshold in hand and what the page says comes of it."""

    def text(name: str) -> str:
        return page.locator(f"#sweep-1-shown [data-shown={name}]").inner_text()

    cells = [int(text(name)) for name in ("tn", "fp", "fn", "tp")]
    return float(text("threshold")), (text("kappa"), text("tpr"), text("tnr"), cells)


def line_at(page: Page) -> float:
    """Where the line in the plot stands, in pixels of the window."""
    box = page.locator("svg .drag-line").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2


def test_drags_the_threshold(report: AlignmentReport, lena: User, new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    project = report.project
    page = new_page(lena)
    page.goto(URL)
    page.get_by_text("Threshold curve").click()
    slider = page.get_by_role("slider", name="Try a threshold")
    back = page.get_by_role("button", name="Back to the best on dev")
    best, at_best = shown(page)
    assert best == pytest.approx(report.result["judges"][0]["at_threshold"]["threshold"], abs=1e-9)
    assert at_best == by_hand(project, best)
    expect(back).to_be_disabled()
    expect(page.get_by_text("the best there")).to_be_visible()
    seen = {best}

    def check() -> float:
        threshold, figures = shown(page)
        assert figures == by_hand(project, threshold)
        kappa, tpr, tnr, _ = figures
        said = f"Threshold {threshold:.4g}: kappa {kappa}, right passes {tpr}, right fails {tnr}"
        expect(slider).to_have_attribute("aria-valuetext", said)
        seen.add(threshold)
        return threshold

    # By keyboard: from where it stands up one, to the ends, and down one.
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert check() > best
    expect(back).to_be_enabled()
    expect(page.get_by_text("the best there")).to_be_hidden()
    page.keyboard.press("Home")
    lowest = check()
    assert shown(page)[1][1:3] == ("1.00", "0.00")  # everything passes
    left = line_at(page)
    page.keyboard.press("End")
    highest = check()
    right = line_at(page)
    assert (lowest < best < highest, left < right) == (True, True)
    page.keyboard.press("ArrowLeft")
    assert check() < highest

    # The slider by mouse.
    box = slider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in (0.7, 0.45, 0.3):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        check()
    page.mouse.up()

    # The line in the plot by mouse: it follows, and the slider follows it.
    plot = page.locator("svg.draggable").bounding_box()
    assert plot is not None
    page.mouse.move(line_at(page), plot["y"] + plot["height"] / 2)
    page.mouse.down()
    for share in (0.2, 0.5, 0.8):
        x = left + (right - left) * share
        page.mouse.move(x, plot["y"] + plot["height"] / 2)
        threshold = check()
        assert abs(line_at(page) - x) < (right - left) / 10
        assert threshold == pytest.approx(lowest + (highest - lowest) * share, abs=(highest - lowest) / 10)
    page.mouse.up()
    expect(page.locator(".dial output")).to_have_text(re.compile(r"^Threshold .*: kappa "))
    page.mouse.move(left, plot["y"] + plot["height"] / 2)
    assert shown(page)[0] == threshold, "let go, it stays"

    assert len(seen) > 8
    back.click()
    assert shown(page) == (best, at_best)
    expect(slider).to_be_focused()


def test_without_a_script_the_figures_at_the_best_threshold_stand(
    report: AlignmentReport, lena: User, new_page: Callable[..., Page]
) -> None:
    page = new_page(lena, java_script_enabled=False)
    page.goto(URL)
    page.get_by_text("Threshold curve").click()
    threshold, figures = shown(page)
    assert figures == by_hand(report.project, threshold)
    assert page.get_by_role("slider").count() == 0


def test_walks_through_the_disagreements(report: AlignmentReport, lena: User, new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    rows = report.result["judges"][0]["disagreements"]
    outcomes = {(False, True): "false pass", (True, False): "false fail"}
    first = next(place for place, row in enumerate(rows) if (row["passes"], row["judge_passes"]) in outcomes)
    row = rows[first]
    page = new_page(lena)
    page.goto(URL)
    page.get_by_role("link", name="Read where it disagrees").click()
    table = page.get_by_role("group", name="Where loose and annotators disagree").first
    line = table.get_by_role("row").nth(first + 1)
    expect(line).to_contain_text(outcomes[row["passes"], row["judge_passes"]])
    line.get_by_role("link", name=row["external_id"]).click()
    page.wait_for_url(f"**/samples/{row['sample']}/**")
    walk = page.get_by_role("navigation", name="Disagreements")
    expect(walk).to_contain_text(
        f"Disagreement {first + 1} of {len(rows)}: {outcomes[row['passes'], row['judge_passes']]}"
    )
    expect(page.get_by_text(row["external_id"], exact=True).first).to_be_visible()

    walk.get_by_role("link", name="Next").click()
    page.wait_for_url(f"**/samples/{rows[first + 1]['sample']}/**")
    expect(walk).to_contain_text(f"Disagreement {first + 2} of {len(rows)}")
    walk.get_by_role("link", name="Previous").click()
    page.wait_for_url(f"**/samples/{row['sample']}/**")
    walk.get_by_role("link", name="loose").click()
    page.wait_for_url(f"**{URL}**")


def test_a_walk_that_is_no_longer_there(report: AlignmentReport, lena: User) -> None:
    client = as_user(lena)
    (judge,) = report.result["judges"]
    here = f"/p/desk/samples/{judge['disagreements'][0]['sample']}/"
    asked = {"criterion": "grade", "judge": "loose", "measures": "grade", "disagreement": "1"}
    assert "Disagreement 1 of" in client.get(here, asked).content.decode()
    for wrong in (
        {"disagreement": "2"},
        {"disagreement": "0"},
        {"disagreement": "9999"},
        {"disagreement": "9" * 5000},
        {"disagreement": "-1"},
        {"disagreement": ""},
        {"judge": "other"},
        {"measures": "other"},
        {"criterion": "nothing"},
        {"criterion": ""},
    ):
        reply = client.get(here, {**asked, **wrong})
        assert reply.status_code == 200
        assert 'aria-label="Disagreements"' not in reply.content.decode(), wrong


def test_an_annotator_has_no_walk(report: AlignmentReport) -> None:
    """Who may not read reports learns nothing of them from a sample's address either."""
    ben = make_user("Ben")
    set_member(project=report.project, user=ben, role="annotator")
    client = as_user(ben)
    here = f"/p/desk/samples/{report.result['judges'][0]['disagreements'][0]['sample']}/"
    asked = {"criterion": "grade", "judge": "loose", "measures": "grade", "disagreement": "1"}
    assert "Disagreement" not in client.get(here, asked).content.decode()
