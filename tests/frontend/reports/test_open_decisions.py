"""The planner's first sentence: which decision more labels could change; never that none could where one is open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from alignment.base.estimate import Estimate, remark
from alignment.judging.decision import Endpoint, decision_on
from frontend.reports.first_screen import FirstScreen, first_screen
from frontend.reports.open_decisions import OpenDecisions, open_decisions
from judges.certificates.decision_read import Ruling

FULL = Estimate(1.0, 0.98, 1.0, n=200, clusters=200)
NONE = Estimate.undefined(remark("no_units")).as_dict()


def row(name: str, figure: Estimate, *, coverage: Estimate = FULL) -> dict[str, Any]:
    decision = decision_on(Endpoint(bar=0.4), figure, coverage, part="dev").as_dict()
    return {
        "judge": name, "version": "1", "dimension": "grade", "title": name, "place": 1, "higher_is_better": True,
        "kappa": figure.as_dict(), "decision": decision,
    }  # fmt: skip


def screen(*rows: dict[str, Any], rulings: list[Ruling | None] | None = None) -> FirstScreen:
    return first_screen(
        list(rows), NONE, None, rulings=rulings or [None] * len(rows), urls=[""] * len(rows)
    )  # fmt: skip


def kappa(value: float, low: float, high: float, groups: int = 200) -> Estimate:
    return Estimate(value, low, high, n=groups, clusters=groups)


GOOD, BAD = row("good", kappa(0.7, 0.6, 0.8)), row("bad", kappa(0.1, 0.0, 0.2))


def test_where_every_interval_is_clear_no_margin_changes_a_decision() -> None:
    said = open_decisions(screen(GOOD, BAD)).said
    assert said.startswith("A smaller margin alone changes no decision")


def test_an_interval_with_the_minimum_in_it_is_open() -> None:
    said = open_decisions(screen(GOOD, row("unsure", kappa(0.52, 0.37, 0.67)), BAD)).said
    assert said.startswith(
        "Open: unsure. Kappa is 0.52 (0.37 to 0.67), too uncertain to say whether it is 0.40 or more"
    )
    assert "Should it stay at 0.52, a margin below ±0.12 settles it." in said
    assert "930 more" in said
    assert "changes no decision" not in said


def test_at_the_minimum_no_margin_settles_it() -> None:
    said = open_decisions(screen(row("unsure", kappa(0.401, 0.3, 0.5)))).said
    assert said.startswith("Open: unsure.")
    assert "a margin below" not in said


def test_too_few_labels_and_no_figure_are_open_too() -> None:
    few, unknown = row("few", kappa(0.7, 0.6, 0.8, 12)), row("unknown", Estimate.undefined(remark("no_units")))
    said = open_decisions(screen(few, unknown)).said
    assert said.startswith("Open: few. Only 12 groups of samples have drawn labels")
    assert said.endswith("1 more judge is open.")


def test_what_lacks_scores_is_settled_by_no_label() -> None:
    said = open_decisions(screen(GOOD, row("idle", kappa(0.7, 0.6, 0.8), coverage=replace(FULL, value=0.2)))).said
    assert said.startswith("Labels settle no decision now. idle: Only 20")


@pytest.mark.parametrize("ended", [None, "Its certificate has ended."])
def test_of_a_judge_without_a_certified_range_labels_may_certify_one(ended: str | None) -> None:
    missing = Estimate.undefined(remark("region_after_endpoint"))
    found = decision_on(Endpoint(bar=0.4), kappa(0.7, 0.6, 0.8), FULL, region=missing).as_dict()
    figure = kappa(0.7, 0.6, 0.8).as_dict()
    ruling = Ruling(
        decision=found, look=1, created_at=None, level=0.97, endpoint={}, figure=figure, region={"distance": None},  # type: ignore[arg-type]
        kappa=figure, tpr=figure, tnr=figure, certificate=1, ended=ended,
    )  # fmt: skip
    said = open_decisions(screen(GOOD, BAD, rulings=[ruling, None])).said
    assert said.startswith("A smaller margin alone changes no decision")
    assert ("It may still certify a score range for good." in said) is (ended is None)


def test_without_judges_nothing_is_said() -> None:
    assert open_decisions(screen()) == OpenDecisions("")
