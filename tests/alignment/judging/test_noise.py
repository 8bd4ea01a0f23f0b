"""People's errors and the judge behind them: exact tables, simulated truth, and where nothing can be said."""

from collections import Counter

import numpy as np
import pytest

from alignment import Ratings, annotator_errors, at_threshold, judge_under_noise
from alignment.base.estimate import remark
from alignment.judging.noise import _majority

NONE, INFLUENCE = {"interval": "none"}, {"interval": "influence"}


def simulated(seed, people=((0.9, 0.8),) * 3, judge=(0.85, 0.75), units=20_000, passing=0.7, gold=0.0, gaps=0.0):
    """Ratings with independent errors: (TPR, TNR) of each person and of the judge; some units have gold."""
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < passing
    rows = []
    for rater, (tpr, tnr) in enumerate((*people, judge)):
        said = np.where(rng.random(units) < np.where(truth, tpr, tnr), truth, ~truth)
        kept = rng.random(units) >= (gaps if rater < len(people) else 0)
        rows.append((np.flatnonzero(kept), np.full(kept.sum(), rater), said[kept]))
    names = [*(f"person {rater}" for rater in range(len(people))), "judge"]
    if gold:
        known = np.flatnonzero(rng.random(units) < gold)
        rows.append((known, np.full(known.size, len(names)), truth[known]))
        names.append("gold")
    unit, rater, value = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Ratings(unit, rater, value.astype(int), unit, ("fail", "pass"), "binary", tuple(names)), truth


# --- how often annotators err


def test_against_the_others_by_hand(with_gaps):
    ratings = with_gaps(3, units=200)
    found = annotator_errors(ratings, [3, 4], **NONE)
    assert found.against == "the others' majority"
    total = Counter()
    for row, name in zip(found.annotators, ratings.raters, strict=True):
        cells = Counter()
        for unit in np.unique(ratings.unit):
            here = ratings.unit == unit
            own = ratings.value[here & (ratings.rater == ratings.rater_code(name))] >= 2
            others = ratings.value[here & (ratings.rater != ratings.rater_code(name))] >= 2
            if own.size and others.size:
                truth = "tie" if 2 * others.sum() == others.size else bool(2 * others.sum() > others.size)
                cells[truth, bool(own[0])] += 1
        ties = cells.pop(("tie", True), 0) + cells.pop(("tie", False), 0)
        assert (row.annotator, row.n, row.ties) == (name, cells.total(), ties)
        assert row.tpr.value == pytest.approx(cells[True, True] / (cells[True, True] + cells[True, False]))
        assert row.tnr.value == pytest.approx(cells[False, False] / (cells[False, False] + cells[False, True]))
        total.update(cells)
    assert found.together.n == total.total()
    assert found.together.ties == sum(row.ties for row in found.annotators) > 0
    right = total[True, True] + total[False, False]
    assert found.together.accuracy.value == pytest.approx(right / total.total())


def test_against_gold():
    ratings, truth = simulated(1, people=((0.95, 0.9), (0.7, 0.6)), gold=0.5)
    people = ratings.select_raters(["person 0", "person 1", "gold"])
    found = annotator_errors(people, ["pass"], "gold", **INFLUENCE)
    assert found.against == "gold"
    for row, (tpr, tnr) in zip(found.annotators, ((0.95, 0.9), (0.7, 0.6)), strict=True):
        known = people.unit[people.rater == 2]
        own = people.value[people.rater == people.rater_code(row.annotator)]
        mine = at_threshold(own[known], truth[known], known, 1, **INFLUENCE)
        for name in ("tpr", "tnr", "accuracy"):
            figure, expected = getattr(row, name), getattr(mine, name)
            assert (figure.value, figure.low, figure.n) == (expected.value, expected.low, expected.n)
        assert row.tpr.value == pytest.approx(tpr, abs=0.02)
        assert row.tnr.value == pytest.approx(tnr, abs=0.03)


def test_single_labels_say_nothing_on_errors(from_rows):
    single = from_rows([[1, 2, None, None], [None, None, 1, 2]], [1, 2])
    found = annotator_errors(single, [2], **NONE)
    assert all(row.accuracy.reason == remark("no_pairs") for row in (*found.annotators, found.together))
    gold = annotator_errors(single, [2], "rater 1", **NONE)
    assert gold.annotators[0].tpr.reason == remark("no_gold")


def test_rates_without_units(from_rows):
    found = annotator_errors(from_rows([[2, 2], [2, 1]], [1, 2]), [2], **NONE)
    assert found.annotators[1].tnr.reason == remark("reference_fails_none")
    assert found.annotators[1].tpr.value == 0.5
    torn = annotator_errors(from_rows([[2], [2], [1]], [1, 2]), [2], **NONE).annotators[2]
    assert (torn.accuracy.value, torn.n, torn.ties) == (0.0, 1, 0)
    tied = annotator_errors(from_rows([[2], [1], [1]], [1, 2]), [2], **NONE).annotators[1]
    assert (tied.accuracy.reason, tied.n, tied.ties) == (remark("no_majority"), 0, 1)


# --- the judge behind people's errors


@pytest.mark.parametrize("people", range(1, 8))
@pytest.mark.parametrize("right", [0.6, 0.95])
def test_a_majority_of_independent_people(people, right):
    """Over all 2^m patterns of who is right."""
    patterns = (np.arange(2**people)[:, None] >> np.arange(people)) & 1
    chance = np.where(patterns == 1, right, 1 - right).prod(axis=1)
    count = patterns.sum(axis=1)
    expected = chance[2 * count > people].sum() / chance[2 * count != people].sum()
    assert float(_majority(np.array(right), people)) == pytest.approx(expected)


MODELS = {
    "one rate": {"people": ((0.9, 0.9),) * 2},
    "one rate with gaps": {"people": ((0.85, 0.85),) * 4, "gaps": 0.4},
    "two rates": {"people": ((0.95, 0.8),) * 3},
    "two rates with gaps": {"people": ((0.9, 0.8),) * 5, "gaps": 0.3},
    "gold": {"people": ((0.9, 0.75),), "gold": 0.3},
    "gold of two who differ": {"people": ((0.95, 0.85), (0.85, 0.95)), "gold": 0.3},
}


@pytest.mark.parametrize("case", MODELS)
def test_finds_the_truth_behind_independent_errors(case):
    asked = MODELS[case]
    ratings, _ = simulated(5, **asked)
    gold = "gold" if "gold" in asked else None
    model = "gold" if gold else "two rates" if case.startswith("two") else "one rate"
    found = judge_under_noise(ratings, "judge", ["pass"], model, gold, **INFLUENCE)
    tpr, tnr = np.mean(asked["people"], axis=0)
    assert found.human_tpr.value == pytest.approx(tpr, abs=0.015)
    assert found.human_tnr.value == pytest.approx(tnr, abs=0.015)
    assert found.tpr.value == pytest.approx(0.85, abs=0.015)
    assert found.tnr.value == pytest.approx(0.75, abs=0.02)
    assert found.accuracy.value == pytest.approx(0.7 * 0.85 + 0.3 * 0.75, abs=0.01)
    assert found.observed.accuracy.value < found.accuracy.value - 0.005
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert found.accuracy.high - found.accuracy.low >= found.observed.accuracy.high - found.observed.accuracy.low


def test_people_who_never_err_leave_the_figures_as_they_are(from_rows):
    truth = [1, 2] * 20
    judge = [2, 2, *truth[2:]]
    ratings = from_rows([truth, truth, truth, judge], [1, 2])
    for model in ("one rate", "two rates"):
        found = judge_under_noise(ratings, "rater 3", [2], model, **NONE)
        assert (found.human_tpr.value, found.human_tnr.value) == pytest.approx((1, 1))
        for name in ("tpr", "tnr", "accuracy"):
            assert getattr(found, name).value == pytest.approx(getattr(found.observed, name).value)


def test_units_with_gold_need_no_correction():
    ratings, truth = simulated(7, gold=1.0, units=500)
    found = judge_under_noise(ratings, "judge", ["pass"], "gold", "gold", **NONE)
    own = ratings.value[ratings.rater == ratings.rater_code("judge")]
    exact = at_threshold(own, truth, range(500), 1, **NONE)
    assert found.tpr.value == pytest.approx(exact.tpr.value)
    assert found.observed.accuracy.value == found.accuracy.value == exact.accuracy.value


def imperfect_reference(both, person_only, judge_only, neither):
    """Person and judge on 200 units, and 100 units with gold on which the person's TPR is .9 and TNR .8."""
    pairs = [(1, 1)] * both + [(1, 0)] * person_only + [(0, 1)] * judge_only + [(0, 0)] * neither
    gold = [(1, 1)] * 45 + [(1, 0)] * 5 + [(0, 0)] * 40 + [(0, 1)] * 10  # (gold, person)
    assert len(pairs) == 200
    unit = np.concatenate([np.arange(300), np.arange(300)])
    person = [own for own, _ in pairs] + [own for _, own in gold]
    others = [judge for _, judge in pairs] + [true for true, _ in gold]
    rater = np.repeat([0, 1, 2], [300, 200, 100])
    return Ratings(unit, rater, np.array(person + others), unit, (0, 1), "binary", ("person", "judge", "gold"))


def test_the_formulas_on_one_table():
    found = judge_under_noise(imperfect_reference(50, 30, 15, 105), "judge", [1], "gold", "gold", **NONE)
    gain = 0.9 + 0.8 - 1
    passed = (80 - 0.2 * 200) / gain
    both_pass = (50 - 0.2 * 65) / gain
    both_fail = (105 - 0.1 * 135) / gain
    assert (found.human_tpr.value, found.human_tnr.value) == (0.9, 0.8)
    assert found.tpr.value == pytest.approx(both_pass / passed)
    assert found.tnr.value == pytest.approx(both_fail / (200 - passed))
    assert found.accuracy.value == pytest.approx((both_pass + both_fail) / 200)


def test_a_share_beyond_one_is_cut():
    found = judge_under_noise(imperfect_reference(60, 20, 15, 105), "judge", [1], "gold", "gold", **INFLUENCE)
    assert (found.tpr.value, found.tpr.high) == (1.0, 1.0)
    assert found.tpr.low < 1.0


def test_errors_shared_with_the_judge_are_found_out():
    """The judge repeats the person's labels: with independent errors no judge could agree so well with a person."""
    found = judge_under_noise(imperfect_reference(80, 0, 0, 120), "judge", [1], "gold", "gold", **INFLUENCE)
    assert found.accuracy.value is None
    assert found.accuracy.reason == remark("errors_not_independent")


def test_pass_and_fail_change_places():
    ratings, _ = simulated(10, units=2_000)
    found = judge_under_noise(ratings, "judge", ["pass"], "two rates", **INFLUENCE)
    turned = judge_under_noise(ratings, "judge", ["fail"], "two rates", **INFLUENCE)
    assert turned.tpr.value == pytest.approx(found.tnr.value)
    assert turned.human_tnr.value == pytest.approx(found.human_tpr.value)
    assert turned.accuracy.value == pytest.approx(found.accuracy.value)


def test_few_clusters_have_an_interval(rng):
    ratings, _ = simulated(11, units=300, people=((0.95, 0.95),) * 3)
    coarse = Ratings(
        ratings.unit, ratings.rater, ratings.value, ratings.unit // 10, ratings.levels, "binary", ratings.raters
    )
    found = judge_under_noise(coarse, "judge", ["pass"], "one rate", rng=rng)
    assert "jackknife" in found.accuracy.method
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


UNDEFINED = {
    "single labels": ([[1, 2] * 10, [None] * 20, [1, 2] * 10], "one rate", remark("no_pairs")),
    "pairs for two rates": ([[1, 2] * 10, [1, 2] * 10, [1, 2] * 10], "two rates", remark("no_triples")),
    "little overlap": (
        [[1, 2] * 10, [1, 2] * 4 + [None] * 12, [1, 2] * 10],
        "one rate",
        remark("few_units_show_errors", n=10),
    ),
    "people who guess": (
        [[1, 2] * 10, [1, 1, 2, 2] * 5, [1, 2] * 10],
        "one rate",
        remark("people_near_chance"),
    ),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_undefined(from_rows, case):
    rows, model, reason = UNDEFINED[case]
    found = judge_under_noise(from_rows(rows, [1, 2]), "rater 2", [2], model, **NONE)
    for figure in (found.human_tpr, found.human_tnr, found.tpr, found.tnr, found.accuracy):
        assert (figure.value, figure.reason) == (None, reason)
    assert found.observed is not None


def test_a_judge_with_nothing_in_common(from_rows):
    ratings = from_rows([[1, 2] * 10 + [None], [1, 2] * 10 + [None], [None] * 20 + [1]], [1, 2])
    found = judge_under_noise(ratings, "rater 2", [2], "one rate", **NONE)
    assert found.observed is None
    assert found.accuracy.reason == remark("no_units")
    assert found.human_tpr.value == 1.0


def test_errors_that_explain_every_pass(from_rows):
    # Two people err on 1 of 20 pairs; on the units the judge scored, people pass none.
    first, second = [1, 2] * 20 + [1] * 40, [1, 1] + [1, 2] * 19 + [1] * 40
    ratings = from_rows([first, second, [None] * 40 + [1, 2] * 20], [1, 2])
    found = judge_under_noise(ratings, "rater 2", [2], "one rate", **NONE)
    assert found.tpr.reason == remark("errors_explain_passes")
    assert found.tnr.value == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"model": "none"}, "gold, one rate, two rates"),
        ({"model": "gold"}, "goes with the name of the gold rater"),
        ({"gold": "person 0"}, "goes with the name of the gold rater"),
        ({"judge": "nobody"}, "no rater 'nobody'"),
        ({"passes": ["maybe"]}, "not among the levels"),
    ],
)
def test_nonsense(asked, message):
    ratings, _ = simulated(1, units=20)
    with pytest.raises(ValueError, match=message):
        judge_under_noise(ratings, **{"judge": "judge", "passes": ["pass"], "model": "one rate"} | asked, **NONE)


def test_a_million_ratings():
    ratings, _ = simulated(12, units=260_000, people=((0.9, 0.8),) * 3)
    found = judge_under_noise(ratings, "judge", ["pass"], "two rates", **INFLUENCE)
    assert found.tpr.value == pytest.approx(0.85, abs=0.005)
    assert annotator_errors(ratings.select_raters(ratings.raters[:3]), ["pass"], **NONE).together.n > 600_000
