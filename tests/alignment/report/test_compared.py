"""Judges and versions side by side as reports show them, held against scikit-learn and against counting."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, recall_score

from alignment.base.estimate import remark
from alignment.report import Criterion, Evidence, JudgeScores, Option, compare, reference_of, report_figures
from alignment.report.compared import MAX_FLIPPED, compared_figures
from alignment.report.judged import judge_titles

BINARY = Criterion("ok", 1, "OK", "claim", "binary", "Right?", (Option(True, "Yes"), Option(False, "No")), (True,))
GRADES = (1, 2, 3, 4)
GRADED = Criterion("grade", 1, "Grade", "answer", "ordinal", "How?", tuple(Option(g, str(g)) for g in GRADES), ())


def scores(judge, truth, noise, rng, *, version="1", lower=False, missing=0.1):
    given = {
        unit: float((2 * passed - 1) * (-1 if lower else 1) + rng.normal(0, noise))
        for unit, passed in truth.items()
        if rng.random() >= missing
    }
    return JudgeScores(judge, version, "ok", not lower, given)


def evidence(samples=160, judges=3, earlier=2):
    rng = np.random.default_rng(11)
    units = [(f"s{sample:03}", f"claim:{claim}") for sample in range(samples) for claim in range(2)]
    truth = {unit: bool(rng.random() < 0.6) for unit in units}
    said = [scores(f"j{at}", truth, 0.5 + 0.4 * at, rng, version="9", lower=at == 1) for at in range(judges)]
    old = [scores("j0", truth, 1 + at, rng, version=f"{8 - at}") for at in range(earlier)]
    return Evidence(
        criterion=BINARY,
        seed=3,
        units=units,
        raters=["ann"] * len(units),
        values=list(truth.values()),
        verdicts={},
        judges=said,
        earlier=old,
        is_dev={f"s{sample:03}": sample % 2 == 0 for sample in range(samples)},
    )


def compared(found):
    reference = reference_of(found)
    comparisons = [compare(reference, judge) for judge in found.judges]
    return compared_figures(reference, comparisons, judge_titles([one.row for one in comparisons]))


def test_each_judge_with_the_best_against_scikit_learn():
    found = evidence()
    reference, result = reference_of(found), compared(found)
    titles = [(side["title"], side["latest"]) for side in result["sides"]]
    assert titles == [("j0 9", True), ("j1 9", True), ("j2 9", True), ("j0 8", False), ("j0 7", False)]
    # The first is the best; of the three pairs of judges it could have been any.
    assert result["best"] == 0
    among = [(pair["first"], pair["second"], pair["family"], pair["among"]) for pair in result["pairs"]]
    judges, versions = ("judges", 3), ("versions", 2)
    assert among == [(0, 1, *judges), (0, 2, *judges), (3, 0, *versions), (4, 0, *versions)]
    # An earlier version is decided as it would be, were it the latest.
    decided = [compare(reference, said).decisions for said in (*found.judges, *found.earlier)]
    for pair in result["pairs"]:
        first, second = decided[pair["first"]], decided[pair["second"]]
        units = sorted(first.keys() & second.keys())
        assert all(found.is_dev[sample] for sample, _ in units)
        assert (pair["units"], pair["samples"]) == (len(units), len({sample for sample, _ in units}))
        people, one, other = ([of[unit] for unit in units] for of in (reference.positive, first, second))
        figures = {
            "kappa": cohen_kappa_score,
            "tpr": recall_score,
            "tnr": lambda true, said: recall_score(true, said, pos_label=False),
            "accuracy": lambda true, said: np.mean(np.equal(true, said)),
        }
        for name, figure in figures.items():
            own = [figure(people, said) for said in (one, other)]
            assert [side[name]["value"] for side in pair["own"]] == pytest.approx(own)
            difference = pair["difference"][name]
            assert difference["value"] == pytest.approx(own[1] - own[0])
            assert difference["low"] < difference["value"] < difference["high"]
        rows = list(zip(people, one, other, strict=True))
        flips = {
            "only_first_right": sum(p == a != b for p, a, b in rows),
            "only_second_right": sum(p == b != a for p, a, b in rows),
            "both_wrong": 0,
        }
        assert pair["flips"] == flips
        assert len(pair["flipped"]) == min(MAX_FLIPPED, sum(flips.values()))


def test_the_interval_against_leaving_out_each_sample():
    found = evidence(samples=200, judges=2, earlier=0)
    reference = reference_of(found)
    first, second = (compare(reference, said).decisions for said in found.judges[:2])
    units = sorted(first.keys() & second.keys())
    people, one, other = (np.array([of[unit] for unit in units]) for of in (reference.positive, first, second))
    samples = np.array([sample for sample, _ in units])

    def gain(kept):
        return cohen_kappa_score(people[kept], other[kept]) - cohen_kappa_score(people[kept], one[kept])

    left_out = np.array([gain(samples != sample) for sample in np.unique(samples)])
    error = np.sqrt((left_out.size - 1) / left_out.size * np.square(left_out - left_out.mean()).sum())
    kappa = compared(found)["pairs"][0]["difference"]["kappa"]
    assert (kappa["high"] - kappa["low"]) / 2 / 1.984 == pytest.approx(error, rel=0.05)


def test_units_that_flipped():
    found = evidence(samples=400, judges=2, earlier=0)
    reference, pair = reference_of(found), compared(found)["pairs"][0]
    first, second = (compare(reference, said).decisions for said in found.judges)
    assert sum(pair["flips"].values()) > MAX_FLIPPED
    gains = [row["gain"] for row in pair["flipped"]]
    assert (len(gains), gains) == (MAX_FLIPPED, sorted(gains))
    # The rarer kind is not crowded out by the other.
    assert gains.count(1) == pair["flips"]["only_second_right"] == 6
    for row in pair["flipped"]:
        unit = row["sample"], row["unit"]
        assert (row["human"], row["first"], row["second"]) == (reference.positive[unit], first[unit], second[unit])
        assert row["first"] != row["second"]
        assert row["gain"] == (1 if row["second"] == row["human"] else -1)
        assert row["first_score"] == found.judges[0].numbers[unit]
        assert row["second_score"] == found.judges[1].numbers[unit]
    worse = [(row["sample"], row["unit"]) for row in pair["flipped"] if row["gain"] < 0]
    assert worse == sorted(worse)


def test_labels_where_nothing_passes():
    rng = np.random.default_rng(5)
    units = [(f"s{sample:03}", "answer") for sample in range(90)]
    truth = {unit: int(rng.integers(1, 5)) for unit in units}

    def said(judge, right):
        labels = {unit: value if rng.random() < right else int(rng.integers(1, 5)) for unit, value in truth.items()}
        return JudgeScores(judge, "1", "grade", True, labels=labels)

    numbers = JudgeScores("n", "1", "grade", True, {unit: float(value) for unit, value in truth.items()})
    found = Evidence(
        GRADED, 3, units, ["ann"] * 90, list(truth.values()), {}, [said("a", 0.8), said("b", 0.5), numbers]
    )
    result = compared(found)
    assert (result["basis"], result["sides"][2]["reason"]) == ("labels", remark("only_numbers"))
    pair, *others = result["pairs"]
    people, one, other = (list(of.values()) for of in (truth, found.judges[0].labels, found.judges[1].labels))
    # Nothing is chosen, so all units count, though no sample has a side.
    assert pair["units"] == 90
    for name, weights in (("kappa", None), ("linear", "linear"), ("quadratic", "quadratic")):
        own = [cohen_kappa_score(people, said, weights=weights) for said in (one, other)]
        assert pair["difference"][name]["value"] == pytest.approx(own[1] - own[0])
        assert pair["own"][1][name]["value"] == pytest.approx(own[1])
    rows = list(zip(people, one, other, strict=True))
    assert pair["flips"] == {
        "only_first_right": sum(p == a != b for p, a, b in rows),
        "only_second_right": sum(p == b != a for p, a, b in rows),
        "both_wrong": sum(p != a != b != p for p, a, b in rows),
    }
    assert {row["gain"] for row in pair["flipped"]} == {-1, 0, 1}
    for pair in others:
        assert (pair["units"], pair["flipped"]) == (0, [])
        assert pair["reason"] == remark("not_compared", judge="n", why=remark("only_numbers"))
        assert pair["difference"]["kappa"]["reason"] == pair["reason"]


def test_what_is_too_much_is_left_out_and_counted():
    found = evidence(samples=24, judges=12, earlier=9)
    rng = np.random.default_rng(1)
    truth = dict(zip(found.units, found.values, strict=True))
    others = [scores("j1", truth, 1, rng, version=f"{8 - at}", lower=True) for at in range(5)]
    # Of a judge beyond the tenth, and of one that measured something else then.
    strange = [scores("j11", truth, 1, rng, version="8"), replace(others[0], dimension="tone")]
    result = compared(replace(found, earlier=[*found.earlier, *others, *strange]))
    assert result["left_out"] == {"judges": 2, "versions": 4}
    assert [(pair["family"], pair["among"]) for pair in result["pairs"]] == [("judges", 45)] * 9 + [
        ("versions", 10)
    ] * 10
    old = [(side["judge"], side["version"]) for side in result["sides"] if not side["latest"]]
    assert old == [(f"j{at % 2}", f"{8 - at // 2}") for at in range(10)]


def test_judges_that_cannot_be_compared_say_why():
    found = evidence(samples=40, judges=2, earlier=0)
    one, other = found.judges
    mute = compared(replace(found, judges=[one, replace(other, numbers={})]))["pairs"][0]
    assert mute["reason"] == remark("not_compared", judge="j1 9", why=remark("no_scores"))
    half = [
        replace(said, numbers={unit: score for unit, score in said.numbers.items() if unit[1] == f"claim:{at}"})
        for at, said in enumerate(found.judges)
    ]
    apart = compared(replace(found, judges=half))["pairs"][0]
    assert apart["reason"] == remark("no_unit_decided_by_both")
    assert compared(replace(found, judges=[]))["pairs"] == []


def test_the_same_whatever_else_is_compared_but_for_what_holds_together():
    """Of a report's figures only the intervals that hold for all pairs hang on the company of other judges."""
    found = evidence()
    alone = report_figures(replace(found, judges=found.judges[:2]))["compared"]["pairs"][0]
    among = report_figures(found)["compared"]["pairs"][0]
    one, other = (pair["difference"].pop("kappa") for pair in (alone, among))
    assert {**alone, "among": 3} == among
    assert other["value"] == one["value"]
    assert 1.1 < (other["high"] - other["low"]) / (one["high"] - one["low"]) < 1.3
    assert (one["level"], other["level"]) == (0.95, pytest.approx(1 - 0.05 / 3))


def test_the_best_is_not_one_of_few_units():
    found = evidence(judges=3, earlier=0)
    few = dict(list(found.judges[2].numbers.items())[:60])
    truth = dict(zip(found.units, found.values, strict=True))
    lucky = replace(found.judges[2], numbers={unit: float(truth[unit]) for unit in few})
    assert compared(replace(found, judges=[*found.judges[:2], lucky]))["best"] == 0
    worst_first = compared(replace(found, judges=found.judges[::-1]))
    assert worst_first["best"] == 2
    assert [(pair["first"], pair["second"]) for pair in worst_first["pairs"]] == [(2, 0), (2, 1)]
