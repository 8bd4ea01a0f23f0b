"""Dawid and Skene's model: the paper's table, crowd-kit's figures, the equations followed one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignment import Ratings, fit_dawid_skene
from alignment.base.estimate import Remark, remark
from alignment.consensus.dawid_skene import FEWEST_UNITS, why_unidentified

# Table 1 of the paper: 45 patients; three readings by observer 1, one by each of observers 2 to 5.
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111
1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""
READINGS = ("1", "1 again", "1 once more", "2", "3", "4", "5")
ONE_PERSON = {"1 again": "1", "1 once more": "1"}

# How many iterations crowd-kit's own stopping rule (its lower bound per rating rises by less than 1e-5) lets pass.
CROWD_KIT = {"naturalness": 6, "appropriateness": 3, "completeness": 6, "faithfulness": 64}


@pytest.fixture(scope="module")
def patients():
    return Ratings.from_columns(
        [patient for patient in range(45) for _ in READINGS],
        READINGS * 45,
        [int(grade) for row in PATIENTS.split() for grade in row],
        [patient for patient in range(45) for _ in READINGS],
        scale="ordinal",
        levels=[1, 2, 3, 4],
    )


def test_the_paper(patients):
    fitted = fit_dawid_skene(patients, smoothing=0, same_rater=ONE_PERSON)
    assert fitted.converged
    assert fitted.raters == ("1", "2", "3", "4", "5")
    assert fitted.shares.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    # Table 2: observer 1 by true class.
    assert fitted.confusion[0].round(2).tolist() == [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
    ]
    # Three readings each of 18 patients of class 1.
    assert fitted.support[0, 0] == pytest.approx(54, abs=0.1)
    assert (fitted.label >= 0).all()


def equations(ratings, iterations, smoothing):
    """The paper's equations with a units × raters × levels table of counts."""
    units, unit = np.unique(ratings.unit, return_inverse=True)
    counts = np.zeros((units.size, len(ratings.raters), len(ratings.levels)))
    np.add.at(counts, (unit, ratings.rater, ratings.value), 1)
    posterior = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]

    def m_step():
        said = np.einsum("uj,urk->rjk", posterior, counts) + smoothing
        return posterior.mean(axis=0), said / said.sum(axis=2, keepdims=True)

    for _ in range(iterations):
        shares, confusion = m_step()
        joint = shares * np.prod(confusion[None] ** counts[:, :, None, :], axis=(1, 3))
        posterior = joint / joint.sum(axis=1, keepdims=True)
    shares, confusion = m_step()
    likelihood = np.log((shares * np.prod(confusion[None] ** counts[:, :, None, :], axis=(1, 3))).sum(axis=1)).sum()
    return posterior, shares, confusion, likelihood


@pytest.mark.parametrize("iterations", [1, 5])
@pytest.mark.parametrize("smoothing", [0.01, 1.0])
def test_the_equations(with_gaps, iterations, smoothing):
    ratings = with_gaps(2, units=60)
    fitted = fit_dawid_skene(ratings, smoothing=smoothing, tolerance=0, max_iterations=iterations)
    posterior, shares, confusion, likelihood = equations(ratings, iterations, smoothing)
    assert fitted.posterior == pytest.approx(posterior, abs=1e-12)
    assert fitted.shares == pytest.approx(shares, abs=1e-12)
    assert fitted.confusion == pytest.approx(confusion, abs=1e-12)
    assert fitted.log_likelihood == pytest.approx(likelihood)
    assert (fitted.iterations, fitted.converged) == (iterations, False)


@pytest.mark.parametrize("dimension", CROWD_KIT)
def test_crowd_kit(mtrag, dimension):
    """Its conventions: a count below 1e-10 is 1e-10 (for values the rater used), and it stops early."""
    ratings = mtrag.ratings(dimension)
    fitted = fit_dawid_skene(
        ratings, smoothing=1e-10, smooth_unused=False, tolerance=0, max_iterations=CROWD_KIT[dimension]
    )
    expected = mtrag.reference["crowdkit"]["by_dimension"][dimension]
    priors = [expected["dawid_skene_priors"][str(float(level))] for level in ratings.levels]
    assert fitted.shares == pytest.approx(priors, abs=1e-6)
    lines = map(json.loads, (mtrag.folder / "reference_crowdkit.jsonl").read_text(encoding="utf-8").splitlines())
    theirs = {(row["sample_id"], row["unit"]): row for row in lines if row["dimension"] == dimension}
    assert set(theirs) == set(fitted.unit_ids)
    for unit, posterior, label in zip(fitted.unit_ids, fitted.posterior, fitted.label, strict=True):
        row = theirs[unit]
        assert posterior == pytest.approx(
            [row["dawid_skene_p"][str(float(level))] for level in ratings.levels], abs=1e-6
        )
        assert ratings.levels[label] == row["dawid_skene"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_what_always_holds(seed):
    rng = np.random.default_rng(seed)
    unit, rater = np.nonzero(rng.random((20, 4)) < 0.7)
    ratings = Ratings(unit, rater, rng.integers(0, 3, unit.size), unit // 2, tuple("xyz"), "nominal", tuple("abcd"))
    before = -np.inf
    for iterations in range(1, 6):
        fitted = fit_dawid_skene(ratings, smoothing=0, tolerance=0, max_iterations=iterations)
        assert fitted.log_likelihood >= before - 1e-9
        before = fitted.log_likelihood
        assert fitted.posterior.sum(axis=1) == pytest.approx(1)
        assert fitted.shares.sum() == pytest.approx(1)
        assert np.nansum(fitted.confusion, axis=2)[fitted.support > 0] == pytest.approx(1)
        assert (np.isnan(fitted.confusion).all(axis=2) == (fitted.support <= 0)).all()
        assert fitted.support.sum(axis=1) == pytest.approx(np.bincount(rater, minlength=4))


def test_order_and_names(with_gaps, rng):
    ratings = with_gaps(5, units=100)
    order = rng.permutation(len(ratings))
    moved = Ratings(
        ratings.unit[order],
        ratings.rater[order],
        3 - ratings.value[order],
        ratings.cluster[order],
        ratings.levels[::-1],
        "ordinal",
        ratings.raters,
    ).select_raters(ratings.raters[::-1])
    fitted, other = fit_dawid_skene(ratings), fit_dawid_skene(moved)
    assert other.iterations == fitted.iterations
    assert other.posterior[:, ::-1] == pytest.approx(fitted.posterior, abs=1e-9)
    assert other.confusion[::-1, ::-1, ::-1] == pytest.approx(fitted.confusion, abs=1e-9)
    assert other.log_likelihood == pytest.approx(fitted.log_likelihood)


def test_a_careless_rater_weighs_less(rng):
    truth = rng.integers(2, size=400)
    right = (0.95, 0.95, 0.55, 0.55, 0.55)
    said = [np.where(rng.random(400) < each, truth, 1 - truth) for each in right]
    ratings = Ratings(
        np.tile(np.arange(400), 5),
        np.repeat(np.arange(5), 400),
        np.concatenate(said),
        np.tile(np.arange(400), 5),
        ("no", "yes"),
        "binary",
        tuple("abcde"),
    )
    fitted = fit_dawid_skene(ratings)
    assert (fitted.label == truth).mean() > (np.sum(said, axis=0) >= 3).mean() + 0.05
    assert fitted.confusion[:, [0, 1], [0, 1]].mean(axis=1) == pytest.approx(right, abs=0.08)


def test_ones_own_repeats_are_no_second_opinion(from_rows):
    twice = from_rows(["xy", "xx"], "xy", "nominal")
    assert fit_dawid_skene(twice).reason is None
    assert fit_dawid_skene(twice, same_rater={"rater 1": "rater 0"}).reason == remark("no_pairs")


def test_equally_probable_is_no_label(from_rows):
    fitted = fit_dawid_skene(from_rows(["xxyy", "xyxy"], "xy", "nominal"), max_iterations=1, smoothing=1)
    assert fitted.label.tolist() == [0, -1, -1, 1]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([], remark("no_units")), (["x", "y"], None), ([["x", None], [None, "y"]], remark("no_pairs"))],
)
def test_nothing_to_learn_from(from_rows, rows, reason):
    fitted = fit_dawid_skene(from_rows(rows, "xy", "nominal"))
    assert fitted.reason == reason
    if reason is not None:
        assert (fitted.log_likelihood, fitted.iterations, fitted.converged) == (None, 0, False)
        assert np.isnan(fitted.shares).all()
        assert np.isnan(fitted.confusion).all()
        assert np.isnan(fitted.posterior).all()
        assert (fitted.label == -1).all()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"smoothing": -1}, "not negative"),
        ({"tolerance": -1}, "not negative"),
        ({"max_iterations": 0}, "at least 1 iteration"),
        ({"same_rater": {"nobody": "a"}}, "no rater 'nobody'"),
    ],
)
def test_nonsense(from_rows, asked, message):
    with pytest.raises(ValueError, match=message):
        fit_dawid_skene(from_rows(["xy", "xy"], "xy", "nominal"), **asked)


def test_no_levels(from_rows):
    with pytest.raises(ValueError, match="needs levels"):
        fit_dawid_skene(from_rows([[0.1], [0.2]], None, "interval"))


def test_a_million_ratings():
    rng = np.random.default_rng(6)
    units, raters = 340_000, 200
    truth = rng.choice(4, units, p=[0.4, 0.3, 0.2, 0.1])
    rater = (rng.integers(raters, size=(units, 1)) + np.array([0, 67, 133])) % raters
    skill = rng.uniform(0.7, 0.95, raters)
    said = np.where(rng.random((units, 3)) < skill[rater], truth[:, None], rng.integers(4, size=(units, 3)))
    unit = np.repeat(np.arange(units), 3)
    names = tuple(f"rater {code}" for code in range(raters))
    ratings = Ratings(unit, rater.ravel(), said.ravel(), unit, tuple("wxyz"), "nominal", names)
    fitted = fit_dawid_skene(ratings, max_iterations=5)
    assert fitted.shares == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.01)
    assert (fitted.label == truth).mean() > 0.95


def table(rows: Iterable[tuple[int, str, str]], levels: str = "xy") -> Ratings:
    units, raters, values = zip(*rows, strict=True)
    return Ratings.from_columns(units, raters, values, units, scale="nominal", levels=levels)


def rows(units: int, panels: list[str], levels: str = "xy") -> list[tuple[int, str, str]]:
    return [(unit, rater, levels[unit % len(levels)]) for unit in range(units) for rater in panels[unit % len(panels)]]


def test_three_who_meet_are_enough() -> None:
    assert why_unidentified(table(rows(FEWEST_UNITS, ["abc"]))) is None
    assert why_unidentified(table(rows(FEWEST_UNITS, ["abc"], "xyz"), "xyz")) is None


@pytest.mark.parametrize(
    ("panels", "reason"),
    [
        (["a"], remark("few_people", n=0, needed=3)),
        (["ab"], remark("few_people", n=2, needed=3)),
        (["ab", "c"], remark("few_people", n=2, needed=3)),
        # Three marginals and three pairs fix 6; the class share and six error rates are 7.
        (["ab", "bc", "ca"], remark("little_overlap", unknown=7, fixed=6)),
    ],
)
def test_too_few_meet(panels: list[str], reason: Remark) -> None:
    assert why_unidentified(table(rows(90, panels))) == reason


def test_four_in_pairs_are_enough() -> None:
    pairs = ["ab", "bc", "cd", "da", "ac", "bd"]
    assert why_unidentified(table(rows(90, pairs))) is None
    assert why_unidentified(table(rows(90, pairs, "xyz"), "xyz")) is None
    assert why_unidentified(table(rows(90, ["ab", "bc", "cd"]))) is not None, "a chain of them is not"


def test_too_few_units() -> None:
    assert str(FEWEST_UNITS - 1) in str(why_unidentified(table(rows(FEWEST_UNITS - 1, ["abc"]))))
    single = [(1000 + unit, "a", "x") for unit in range(100)]
    assert why_unidentified(table(rows(FEWEST_UNITS - 1, ["abc"]) + single)) is not None, "single labels don't count"


def test_one_value_says_nothing_about_errors() -> None:
    assert why_unidentified(table(rows(40, ["abc"], "x"))) == remark("one_value")


def test_nothing_at_all() -> None:
    assert why_unidentified(Ratings.from_columns([], [], [], [], scale="nominal", levels="xy")) is not None
