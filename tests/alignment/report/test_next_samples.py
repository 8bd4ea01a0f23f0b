"""Which samples are proposed, and that weighted figures of them are right where plain ones are not."""

from dataclasses import replace

import numpy as np
import pytest

from alignment.report import Chance, JudgeScores, compare, evidence_as_dict, evidence_from_dict, propose, report_figures
from alignment.report.passing import passing_figures
from alignment.report.planned import drawn_figures
from alignment.report.reference import reference_of
from tests.alignment.report.building import answer, evidence_of, judge, population


def labelled_part(names, truth, count):
    return {name: truth[name] for name in names[:count]}


@pytest.fixture(scope="module")
def world():
    names, truth, first, second = population(600, np.random.default_rng(2))
    judges = [judge(first, "first"), judge(second, "second")]
    return names, truth, evidence_of(labelled_part(names, truth, 200), judges)


def test_the_same_names_in_any_order_give_the_same_draw(world):
    names, _, found = world
    draw = propose(found, names[200:], 40, seed=3, about=found.judges[0])
    assert propose(found, names[:199:-1], 40, seed=3, about=found.judges[0]) == draw
    assert propose(found, names[200:], 40, seed=4, about=found.judges[0]).chosen != draw.chosen


def test_strata_hold_all_and_chances_are_those_of_the_strata(world):
    names, _, found = world
    draw = propose(found, names[200:], 40, seed=3, about=found.judges[0])
    assert sum(stratum.samples for stratum in draw.strata) == 400
    assert sum(stratum.drawn for stratum in draw.strata) == len(draw.chosen) == 40
    assert all(stratum.drawn >= 2 for stratum in draw.strata)
    for chance in draw.chosen.values():
        assert chance.probability == draw.strata[chance.stratum - 1].chance
    assert draw.chosen.keys() <= set(names[200:])


def test_labels_go_where_the_judge_errs(world):
    """Of the samples drawn for its kappa it gets more wrong than of all."""
    names, truth, found = world
    wrong = {name for name in names if (found.judges[0].numbers[answer(name)] > 0.5) != truth[name]}
    frame = names[200:]
    draws = [propose(found, frame, 60, seed=seed, about=found.judges[0]) for seed in range(30)]
    assert {draw.basis for draw in draws} == {"labels"}
    assert draws[0].worth > 1.1
    of_drawn = sum(len(wrong & draw.chosen.keys()) for draw in draws) / (30 * 60)
    assert of_drawn > 1.2 * len(wrong.intersection(frame)) / len(frame)


def test_what_lower_scores_mean_makes_no_difference(world):
    names, _, found = world
    turned = JudgeScores(
        "first", "1", "ok", False, numbers={unit: -score for unit, score in found.judges[0].numbers.items()}
    )
    other = replace(found, judges=[turned, found.judges[1]])
    draw, same = (propose(one, names[200:], 40, seed=3, about=one.judges[0]).chosen for one in (found, other))
    assert draw == same


def test_few_samples_make_few_strata(world):
    names, _, found = world
    counts = [len(propose(found, names[200:], count, seed=1, about=None).strata) for count in (2, 10, 16, 40)]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] > 4


def test_a_judge_that_failed_somewhere_has_a_stratum_for_it(world):
    names, _, found = world
    half = {unit: score for unit, score in found.judges[0].numbers.items() if unit[0] < "s00400"}
    alone = replace(found, judges=[replace_numbers(found.judges[0], half)])
    strata = propose(alone, names[200:], 40, seed=1, about=alone.judges[0]).strata
    assert [one.samples for one in strata if one.score is None] == [200]


def replace_numbers(said, numbers):
    return JudgeScores(said.judge, said.version, said.dimension, said.higher_is_better, numbers=numbers)


@pytest.mark.parametrize("count", [1, 401])
def test_refuses_what_cannot_be_drawn(world, count):
    names, _, found = world
    with pytest.raises(ValueError, match="can be drawn"):
        propose(found, names[200:], count, seed=1, about=None)


def test_weighted_figures_are_right_on_average_where_plain_ones_are_not():
    """Draws again and again from one population of which 60 are labelled: the mean over draws against the truth."""
    names, truth, first, second = population(600, np.random.default_rng(5))
    scores = [judge(first, "first"), judge(second, "second")]
    # It says what the first one's scores say, in labels, so that no threshold is chosen anew in each draw.
    labels = {answer(name): first[name] > 0.5 for name in names}
    decided = JudgeScores("decided", "1", "ok", True, labels=labels)
    start = evidence_of({name: truth[name] for name in names[:60]}, [*scores, decided])
    shares, kappas = [], []
    for seed in range(200):
        draw = propose(start, names[60:], 60, seed=seed, about=decided)
        chances = {**dict.fromkeys(names[:60], Chance(1.0, 0)), **draw.chosen}
        after = evidence_of({name: truth[name] for name in chances}, [decided], chances=chances)
        after = replace(after, is_dev=dict.fromkeys(names, True))
        reference = reference_of(after)
        drawn = drawn_figures(reference, [compare(reference, decided)], ["decided"])
        assert drawn["population"] == 600
        passing = passing_figures(reference)
        shares.append([passing[of]["these"]["value"] for of in ("all", "labelled")])
        kappas.append([drawn["judges"][0]["kappa"][kind]["value"] for kind in ("weighted", "plain")])
    assert draw.basis == "labels"
    of_all = reference_of(evidence_of(truth, [decided]))
    of_all = compare(reference_of(replace(of_all.evidence, is_dev=dict.fromkeys(names, True))), decided)
    truths = sum(truth.values()) / 600, of_all.row["at_threshold"]["kappa"]["value"]
    for found, target in zip((np.array(shares), np.array(kappas)), truths, strict=True):
        error = found.std(axis=0) / np.sqrt(len(found))
        weighted, plain = abs(found.mean(axis=0) - target) / error
        assert weighted < 3
        assert plain > 5


def brute_force(reference, decisions, chances):
    """Every unit as often as its sample stands for others: counted out, stratum by stratum."""
    cells = np.zeros(4)
    sizes = {}
    for chance in chances.values():
        sizes[chance.stratum] = sizes.get(chance.stratum, 0) + 1 / chance.probability
    for stratum, size in sizes.items():
        inside = [unit for unit in decisions if chances[unit[0]].stratum == stratum]
        for unit in inside:
            cells[2 * reference.positive[unit] + decisions[unit]] += size / len(inside)
    tn, fp, fn, tp = cells / cells.sum()
    chance = (tn + fp) * (tn + fn) + (fn + tp) * (fp + tp)
    return (tn + tp - chance) / (1 - chance), tp / (fn + tp), tn / (tn + fp)


def test_against_counting_by_hand():
    rng = np.random.default_rng(8)
    names, truth, first, second = population(200, rng)
    judges = [judge(first, "first"), judge(second, "second")]
    draw = propose(evidence_of(labelled_part(names, truth, 80), judges), names[80:], 40, seed=1, about=None)
    chances = {**dict.fromkeys(names[:80], Chance(1.0, 0)), **draw.chosen}
    found = evidence_of({name: truth[name] for name in chances}, judges, chances=chances)
    reference = reference_of(found)
    one = compare(reference, found.judges[0])
    drawn = drawn_figures(reference, [one], ["first"])
    expected = brute_force(reference, one.decisions, chances)
    got = [drawn["judges"][0][name]["weighted"]["value"] for name in ("kappa", "tpr", "tnr")]
    assert got == pytest.approx(expected)
    share = sum(
        found_size * np.mean([truth[name] for name in chances if chances[name].stratum == stratum])
        for stratum, found_size in {
            stratum: sum(1 / chance.probability for chance in chances.values() if chance.stratum == stratum)
            for stratum in {chance.stratum for chance in chances.values()}
        }.items()
    )
    passing = passing_figures(reference)
    assert passing["all"]["these"]["value"] == pytest.approx(share / 200)
    assert passing["labelled"]["these"]["value"] == pytest.approx(np.mean([truth[name] for name in chances]))


def test_samples_without_labels_are_no_part_of_it_but_their_stratum_is():
    chances = {"a": Chance(1.0, 0), "b": Chance(0.5, 1), "c": Chance(0.5, 1), "d": Chance(0.1, 2)}
    result = report_figures(evidence_of({"a": True, "b": False, "later": True}, chances=chances))
    drawn, passing = result["drawn"], result["passing"]
    assert (drawn["drawn"], drawn["labelled"], drawn["known"]) == (3, 1, 1)
    # b stands for the four of its stratum; no sample speaks for the ten of the other.
    assert (drawn["population"], drawn["unseen"]) == (15, 10)
    assert passing["all"]["these"]["value"] == pytest.approx(1 / 5)
    assert passing["labelled"]["these"]["value"] == pytest.approx(2 / 3)
    assert (drawn["lightest"], drawn["heaviest"]) == (1, 4)


def test_nothing_of_the_draw_is_labelled():
    chances = {"a": Chance(1.0, 0), "b": Chance(0.5, 1)}
    assert report_figures(evidence_of({"a": True}, chances=chances))["drawn"] is None
    assert report_figures(evidence_of({"a": True}))["drawn"] is None


def test_chances_survive_the_file():
    chances = {"a": Chance(1.0, 0), "b": Chance(1 / 3, 1)}
    found = evidence_of({"a": True, "b": False}, [judge({"a": 0.5})], chances=chances)
    again = evidence_from_dict(evidence_as_dict(found))
    assert again.chances == chances
    assert again.judges[0].numbers == {answer("a"): 0.5}
