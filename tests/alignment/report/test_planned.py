"""Plans of a report's figures against the 1/√n they follow from, and against labels that really came."""

import numpy as np
import pytest

from alignment import Estimate
from alignment.base.estimate import remark
from alignment.planning.sample_size import Plannable, plannable_from_estimate
from alignment.report import report_figures
from alignment.report.planned import Growth, goal
from tests.alignment.report.building import evidence_of, judge, population


def test_half_the_width_takes_four_times_the_samples():
    found = Estimate(0.6, 0.44, 0.76, n=1000, clusters=1000)
    # 1.96 instead of t's 1.9623: a plan is by the normal distribution.
    assert plannable_from_estimate(found).more_for(0.08) == pytest.approx(3 * 1000, rel=5e-3)
    assert plannable_from_estimate(found).more_for(0.04) == pytest.approx(15 * 1000, rel=5e-3)


def test_an_interval_that_is_narrow_enough_needs_no_more():
    assert plannable_from_estimate(Estimate(0.6, 0.55, 0.65, n=50, clusters=50)).more_for(0.2) == 0


def test_nothing_is_known_without_an_interval():
    assert plannable_from_estimate(Estimate.undefined(remark("no_units"))).more_for(0.1) is None
    assert (
        plannable_from_estimate(Estimate(1.0, None, None, n=5, clusters=5, reason=remark("no_variation"))).more_for(0.1)
        is None
    )


def test_what_a_plan_asks_for_is_enough_and_not_much_more():
    growth = Growth(Plannable(120, 0.8, 0.95, None), 0.35)
    more = growth.more_for(0.08)
    assert growth.half_width(more) <= 0.08
    # Three labelled samples bring one that the figure rests on.
    assert growth.half_width(more - 4) > 0.08
    assert growth.more_for(0.5) == 0
    assert goal(growth, 0.5) == remark("width_reached", width=0.5)
    assert Growth.from_dict(growth.as_dict()) == growth


@pytest.fixture(scope="module")
def planning():
    names, truth, first, second = population(240, np.random.default_rng(1))
    judges = [judge(first, "first"), judge({name: second[name] for name in names[:120]}, "half")]
    return report_figures(evidence_of(truth, judges, raters=("ann", "ben")))


def test_every_figure_has_its_row(planning):
    rows = planning["planning"]["rows"]
    assert [(row["judge"], row["figure"]) for row in rows] == [
        (None, "kappa"),
        *((title, name) for title in ("first", "half") for name in ("kappa", "tpr", "tnr")),
    ]
    assert planning["planning"]["samples"] == 240
    assert planning["planning"]["dev"] == 120
    # Ann and Ben always agree: the interval is what may have been missed.
    assert (rows[0]["value"], rows[0]["reason"]) == (1.0, None)
    assert 0.02 < rows[0]["half_width"] < 0.05


def test_new_samples_count_as_far_as_they_bear_on_a_figure(planning):
    rows = {(row["judge"], row["figure"]): row for row in planning["planning"]["rows"]}
    # Half of them go to test; the second judge scored half of the samples; not all of them pass.
    assert rows["first", "kappa"]["bearing"] == pytest.approx(0.5)
    assert rows["half", "kappa"]["bearing"] == pytest.approx(0.25)
    assert rows["first", "tpr"]["bearing"] + rows["first", "tnr"]["bearing"] == pytest.approx(0.5)


def test_a_curve_begins_at_the_present_width_and_falls(planning):
    more = planning["planning"]["more"]
    assert 8 <= len(more) <= 14
    for row in planning["planning"]["rows"][1:]:
        widths = [row["half_width"], *row["curve"]]
        assert widths == sorted(widths, reverse=True)
        now, value = row["half_width"], row["value"]
        at = planning["judges"][0 if row["judge"] == "first" else 1]["at_threshold"][row["figure"]]
        assert now == max(at["high"] - value, value - at["low"])
        assert row["target"] <= 0.75 * now


def test_four_times_the_labels_give_the_width_that_was_planned():
    names, truth, first, _ = population(2000, np.random.default_rng(3))
    few, many = (
        report_figures(evidence_of({name: truth[name] for name in names[:count]}, [judge(first)]))
        for count in (500, 2000)
    )
    row = few["planning"]["rows"][1]
    planned = Growth.from_dict(row).half_width(1500)
    assert planned == pytest.approx(many["planning"]["rows"][1]["half_width"], rel=0.15)


def test_nothing_to_plan_without_labels():
    empty = report_figures(evidence_of({}, [judge({"a": 1.0})]))["planning"]
    assert (empty["samples"], empty["dev"]) == (0, 0)
    assert [row["half_width"] for row in empty["rows"]] == [None] * 4
    assert all(row["reason"] for row in empty["rows"])
