"""Widths to expect: known answers, 1/√n, what more samples do, and when there is nothing to plan from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignment import (
    Estimate,
    Plannable,
    at_threshold,
    cohen_kappa,
    kappa_influence,
    plannable_from_estimate,
)
from alignment.base import tables as binary
from alignment.base.estimate import remark
from alignment.base.interval import standard_error
from alignment.planning.sample_size import two_digits

EVEN = [400, 100, 100, 400]
RARE = [864, 36, 36, 64]


def plan_of(cell, sample, level=0.95):
    """For kappa of units, by the cell and the sample of each."""
    return plannable_from_estimate(
        at_threshold(cell % 2, cell // 2, sample, 0.5, interval="influence", level=level).kappa
    )


def units(counts):
    cell = np.repeat(np.arange(4), counts)
    return cell, np.arange(cell.size)


@pytest.mark.parametrize(
    ("counts", "samples", "width"),
    [(EVEN, 20, 0.35), (EVEN, 50, 0.22), (EVEN, 100, 0.16), (EVEN, 200, 0.11), (RARE, 100, 0.27)],
)
def test_known_widths(counts, samples, width):
    assert float(binary.kappa(np.array(counts, float))) == pytest.approx(0.6)
    assert round(plan_of(*units(counts)).half_width(samples), 2) == width


def test_more_samples_give_the_width_planned():
    """A plan from 200 samples against what 800 bring."""
    rng = np.random.default_rng(4)
    cell = rng.choice(4, p=[0.5, 0.1, 0.1, 0.3], size=(800, 3))
    cluster = np.repeat(np.arange(800), 3)
    cell[:, 1:] = np.where(rng.random((800, 2)) < 0.5, cell[:, :1], cell[:, 1:])
    planned, found = (plan_of(cell.ravel()[:count], cluster[:count]) for count in (600, 2400))
    assert (planned.clusters, found.clusters) == (200, 800)
    assert planned.half_width(800) == pytest.approx(found.half_width(800), rel=0.1)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_plan_is_that_from_the_influences(level):
    cell, sample = units([60, 15, 12, 63])
    _, influence = kappa_influence(cell % 2, cell // 2, sample)
    found = plan_of(cell, sample, level)
    spread = np.sqrt(150) * standard_error(influence)
    assert (found.clusters, found.level, found.spread) == (150, level, pytest.approx(spread))


def test_a_plan_from_an_interval_is_near_and_rather_too_many(from_confusion, rng):
    kappa = cohen_kappa(from_confusion([[15, 2], [3, 16]]), "a", "b", rng=rng)
    assert "jackknife" in kappa.method
    expected = plan_of(*units([15, 2, 3, 16])).spread
    assert expected < plannable_from_estimate(kappa).spread < 1.6 * expected


@pytest.mark.parametrize(
    ("estimate", "reason"),
    [
        (Estimate.undefined(remark("one_category"), n=9, clusters=9), remark("one_category")),
        (Estimate(1.0, None, None, clusters=9, reason=remark("no_variation")), remark("no_variation")),
        (Estimate(0.5, 0.5, 0.5, clusters=9), remark("plan_of_no_variation")),
        (Estimate(0.5, 0.2, 0.8, clusters=1), remark("plan_of_few_samples")),
    ],
)
def test_no_plan_from_an_estimate_without_interval(estimate, reason):
    plan = plannable_from_estimate(estimate)
    assert (plan.spread, plan.clusters, plan.reason) == (None, estimate.clusters, reason)


def test_kappas_influences_are_those_of_leaving_samples_out(rng):
    """Jackknife: κ without sample c is about κ - ψ_c."""
    human = rng.random(600) < 0.4
    judge = np.where(rng.random(600) < 0.8, human, ~human)
    sample = 3 * (np.arange(600) // 2) + 5
    labelled, influence = kappa_influence(judge, human, sample)
    assert labelled.tolist() == np.unique(sample).tolist()
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    kappa = at_threshold(judge, human, sample, 0.5, interval="influence").kappa
    for place in range(0, 300, 25):
        rest = sample != labelled[place]
        without = at_threshold(judge[rest], human[rest], sample[rest], 0.5, interval="none").kappa.value
        assert kappa.value - without == pytest.approx(influence[place], abs=2e-4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=40), st.integers(0, 10**6))
def test_order_and_names_do_not_matter(rows, seed):
    cell, sample = np.array(rows, dtype=int).reshape(-1, 2).T
    rng = np.random.default_rng(seed)
    order, named = rng.permutation(cell.size), rng.permutation(100)
    labelled, influence = kappa_influence(cell % 2, cell // 2, sample)
    others, of_others = kappa_influence(cell[order] % 2, cell[order] // 2, named[sample[order]])
    assert set(others) == set(named[labelled])
    assert (influence is None) == (of_others is None)
    if influence is not None:
        assert of_others[np.searchsorted(others, named[labelled])] == pytest.approx(influence, abs=1e-12)


@pytest.mark.parametrize(("judge", "human"), [([], []), ([1, 1], [1, 1])])
def test_kappa_without_influences(judge, human):
    labelled, influence = kappa_influence(judge, human, range(len(judge)))
    assert labelled.tolist() == list(range(len(judge)))
    assert influence is None


@given(st.integers(1, 10**6), st.floats(0.01, 50))
def test_widths_go_by_the_root_of_samples(samples, spread):
    plan = Plannable(100, spread, 0.95, None)
    assert plan.half_width(4 * samples) == pytest.approx(plan.half_width(samples) / 2)


@given(st.floats(0.001, 1), st.floats(0.01, 5), st.integers(2, 1000))
def test_as_many_samples_as_needed_and_no_more(width, spread, present):
    plan = Plannable(present, spread, 0.95, None)
    needed = plan.samples_for(width)
    assert plan.half_width(needed) <= width * (1 + 1e-12)
    assert needed == 1 or plan.half_width(needed - 1) > width * (1 - 1e-12)
    assert plan.more_for(width) == max(0, needed - present)


def test_more_rounded_to_two_digits():
    plan = Plannable(240, 0.8, 0.95, None)
    assert (plan.more_for(0.08), two_digits(plan.more_for(0.08))) == (145, 150)
    assert plan.more_for(0.2) == 0
    assert two_digits(plan.more_for(0.004)) == 160_000


def test_nothing_to_plan_from():
    plan = plan_of(*units([9, 0, 0, 0]))
    assert plan.spread is plan.half_width(10) is plan.samples_for(0.1) is plan.more_for(0.1) is None


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf")])
def test_widths_that_cannot_be(width):
    with pytest.raises(ValueError, match="above 0"):
        Plannable(10, 1.0, 0.95, None).samples_for(width)


def test_numbers_that_cannot_be():
    with pytest.raises(ValueError, match="at least one sample"):
        Plannable(10, 1.0, 0.95, None).half_width(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Plannable(10, 1.0, 95, None)
    with pytest.raises(ValueError, match="judge holds booleans"):
        kappa_influence([0.5], [1], [0])
    with pytest.raises(ValueError, match="differ in length"):
        kappa_influence([1, 0], [1, 0], [0])
