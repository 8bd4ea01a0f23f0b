"""What holds for every public statistic, each declared once: order, names, grouping, bounds, 1, chance, undefined.

The modules' own tests hold what is peculiar to each; here nothing may be missing (``test_every_statistic_is_here``).
"""

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alignment
from alignment import (
    Estimate,
    NotFitted,
    Ratings,
    agreement_summary,
    agreement_with_rest,
    alternative_annotator_test,
    anchoring,
    annotator_errors,
    at_threshold,
    bland_altman,
    brennan_prediger,
    calibration_figures,
    certified_region,
    clustered_share,
    cohen_kappa,
    consensus_labels,
    corrected_rate,
    cross_fit,
    faithfulness,
    fit_calibrator,
    fit_dawid_skene,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    human_ceiling,
    intraclass_correlation,
    judge_label_kappa,
    judge_under_noise,
    kendall,
    krippendorff_alpha,
    mean_over_samples,
    mean_pairwise_kappa,
    mean_pairwise_pi,
    mean_value,
    paired_at_thresholds,
    paired_labels,
    pairwise,
    pearson,
    percent_agreement,
    ppi_mean,
    pr_auc,
    prevalence,
    reference_majority,
    retrieval_figures,
    risk_coverage,
    roc_auc,
    scott_pi,
    self_consistency,
    slices_at_threshold,
    spearman,
    sweep,
    watch_drift,
    weighted_at_threshold,
    weighted_grades,
    weighted_mean,
    weighted_roc_auc,
)
from alignment.agreement.cohen import kappa_of_margins
from alignment.base import tables as binary
from alignment.base.estimate import remark
from alignment.base.tables import disagreement

ASKED = {"interval": "influence"}
NONE = {"interval": "none"}
LEVELS = (1, 2, 3, 4)
ANY, BELOW_ONE, SHARE, SIGNED, DIFFERENCE = (-np.inf, np.inf), (-np.inf, 1), (0, 1), (-1, 1), (-2, 2)


class People(NamedTuple):
    """One row per rating. ``judge`` is a rater who is no person; ``first`` and ``second`` are two people."""

    unit: list
    rater: list
    value: list
    cluster: list
    first: str
    second: str
    judge: str

    def ratings(self, with_judge=False, levels=LEVELS, scale="ordinal"):
        rows = [row for row in zip(*self[:4], strict=True) if with_judge or row[1] != self.judge]
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        known = {rater for _, rater, *_ in rows}
        ratings = Ratings.from_columns(*columns, scale=scale, levels=levels)
        # A rater without a rating is still a rater.
        missing = [name for name in (self.first, self.second, *([self.judge] * with_judge)) if name not in known]
        return Ratings(
            *(getattr(ratings, f) for f in ("unit", "rater", "value", "cluster", "levels", "scale")),
            (*ratings.raters, *missing),
            ratings.unit_ids,
        )


class Judged(NamedTuple):
    """Columns of shape (units,). ``other`` is a second judge."""

    score: np.ndarray
    other: np.ndarray
    human: np.ndarray
    cluster: np.ndarray
    language: np.ndarray

    @property
    def positive(self):
        return self.human >= 3


# The statistics: of people's ratings, of these with a judge, and of columns; with the bounds of their figures.


OF_PEOPLE = {
    "percent_agreement": (SHARE, lambda p: percent_agreement(p.ratings(), **ASKED)),
    "fleiss_kappa": (BELOW_ONE, lambda p: fleiss_kappa(p.ratings(), **ASKED)),
    "brennan_prediger": (SIGNED, lambda p: brennan_prediger(p.ratings(), **ASKED)),
    "gwet_ac1": (BELOW_ONE, lambda p: gwet_ac1(p.ratings(), **ASKED)),
    "gwet_ac2": (BELOW_ONE, lambda p: [gwet_ac2(p.ratings(), w, **ASKED) for w in ("linear", "quadratic")]),
    "krippendorff_alpha": (
        BELOW_ONE,
        lambda p: [krippendorff_alpha(p.ratings(), m, **ASKED) for m in ("nominal", "ordinal", "interval", "ratio")],
    ),
    "intraclass_correlation": (
        BELOW_ONE,
        lambda p: [intraclass_correlation(p.ratings(), f, **ASKED) for f in ("one-way", "agreement", "consistency")],
    ),
    "cohen_kappa": (
        SIGNED,
        lambda p: [cohen_kappa(p.ratings(), p.first, p.second, w, **ASKED) for w in (None, "linear", "quadratic")],
    ),
    "scott_pi": (SIGNED, lambda p: scott_pi(p.ratings(), p.first, p.second, **ASKED)),
    "mean_pairwise_kappa": (
        SIGNED,
        lambda p: [
            mean_pairwise_kappa(p.ratings(), weights, 2, by_units, **ASKED)
            for weights in (None, "linear", "quadratic")
            for by_units in (False, True)
        ],
    ),
    "mean_pairwise_pi": (SIGNED, lambda p: mean_pairwise_pi(p.ratings(), 2, **ASKED)),
    "pairwise": (SIGNED, lambda p: pairwise(p.ratings(), 2, **ASKED)),
    "agreement_summary": (BELOW_ONE, lambda p: agreement_summary(p.ratings(), **ASKED)),
    "annotator_errors": (SHARE, lambda p: annotator_errors(p.ratings(), [3, 4], **ASKED)),
    "agreement_with_rest": (SIGNED, lambda p: agreement_with_rest(p.ratings(), **ASKED)),
}
WITH_A_JUDGE = {
    "human_ceiling": (DIFFERENCE, lambda p: human_ceiling(p.ratings(True), p.judge, None, 2, **ASKED)),
    "alternative_annotator_test": (
        SIGNED,
        lambda p: alternative_annotator_test(p.ratings(True), p.judge, 0.2, "match", 2, **ASKED),
    ),
    "judge_under_noise": (
        SIGNED,
        lambda p: [judge_under_noise(p.ratings(True), p.judge, [3, 4], m, **ASKED) for m in ("one rate", "two rates")],
    ),
}
OF_COLUMNS = {
    "at_threshold": (SIGNED, lambda j: at_threshold(j.score, j.positive, j.cluster, 2.5, **ASKED)),
    "paired_at_thresholds": (
        DIFFERENCE,
        lambda j: paired_at_thresholds(j.score, j.other, j.positive, j.cluster, (2.5, 3.0), **ASKED),
    ),
    "slices_at_threshold": (
        DIFFERENCE,
        lambda j: slices_at_threshold(j.score, j.positive, j.cluster, 2.5, {"language": j.language}, **ASKED),
    ),
    "roc_auc": (SHARE, lambda j: roc_auc(j.score, j.positive, j.cluster, **ASKED)),
    "pr_auc": (SHARE, lambda j: pr_auc(j.score, j.positive, j.cluster, **ASKED)),
    "pearson": (SIGNED, lambda j: pearson(j.score, j.human, j.cluster, **ASKED)),
    "spearman": (SIGNED, lambda j: spearman(j.score, j.human, j.cluster, **ASKED)),
    "kendall": (SIGNED, lambda j: kendall(j.score, j.human, j.cluster, **ASKED)),
    "bland_altman": (ANY, lambda j: bland_altman(j.score, j.human, j.cluster, **ASKED)),
    "judge_label_kappa": (
        SIGNED,
        lambda j: judge_label_kappa(
            j.human.tolist(), labels(j.score), j.cluster.tolist(), scale="ordinal", levels=LEVELS, **ASKED
        ),
    ),
    "paired_labels": (
        DIFFERENCE,
        lambda j: paired_labels(
            j.human.tolist(), labels(j.score), labels(j.other), j.cluster.tolist(), scale="ordinal", levels=LEVELS,
            **ASKED,
        ),
    ),
    "calibration_figures": (
        ANY,
        lambda j: calibration_figures(
            j.score >= 2.5, j.positive, j.cluster, probability=np.clip(j.score / 5, 0.01, 0.99), **ASKED
        ),
    ),
    "risk_coverage": (SHARE, lambda j: risk_coverage(j.score, j.positive, j.cluster, 2.5, **ASKED)),
    "certified_region": (
        SHARE,
        lambda j: certified_region(j.score, j.positive, j.cluster, 2.5, [1.5, 1.0, 0.0], risk=0.4).step,
    ),
    "self_consistency": (
        SHARE,
        lambda j: self_consistency(j.cluster.tolist(), ["judge"] * j.score.size, labels(j.score), j.cluster.tolist(),
                                   **ASKED),
    ),
    "corrected_rate": (SIGNED, lambda j: corrected_rate(*partly_labelled(j, j.positive, knowing(j)), **ASKED)),
    "ppi_mean": (ANY, lambda j: ppi_mean(*partly_labelled(j, j.human, j.score, turned=True), **ASKED)),
    "weighted_mean": (SHARE, lambda j: weighted_mean(j.positive, j.cluster, *chances(j), bounds=SHARE, **ASKED)),
    "weighted_at_threshold": (
        SIGNED,
        lambda j: weighted_at_threshold(j.score, j.positive, j.cluster, 2.5, *chances(j), **ASKED),
    ),
    "weighted_grades": (
        SIGNED,
        lambda j: weighted_grades(places(j.score), places(j.human), 4, j.cluster, *chances(j), **ASKED),
    ),
    "weighted_roc_auc": (SHARE, lambda j: weighted_roc_auc(j.score, j.positive, j.cluster, *chances(j), **ASKED)),
    "mean_over_samples": (SHARE, lambda j: mean_over_samples(faithful(j), j.cluster, **ASKED)),
}  # fmt: skip
EVERY = OF_PEOPLE | WITH_A_JUDGE | OF_COLUMNS


def places(score):
    return np.array(labels(score)) - 1


def labels(score):
    return np.clip(np.round(score), 1, 4).astype(int).tolist()


def knowing(judged):
    """Verdicts that follow people's more or less: else nearly no rate could be corrected."""
    return judged.score + judged.human >= 5


def partly_labelled(judged, people, judge, *, turned=False):
    """Judge, people and cluster of the units with labels, judge and cluster of the others; ``turned``: people first.

    The other judge decides which have labels, so a cluster may have units on both sides.
    """
    labelled = judged.other >= 2.5
    first, second = (people, judge) if turned else (judge, people)
    return (
        *(column[labelled] for column in (first, second, judged.cluster)),
        *(column[~labelled] for column in (judge, judged.cluster)),
    )


def chances(judged):
    """Each unit's probability and stratum: a cluster has one language."""
    english = judged.language == "en"
    return np.where(english, 0.5, 0.1), english.astype(int)


def faithful(judged):
    """A metric of each unit: how many of the two judges say what people say; undefined for the lowest score."""
    agree = [(column >= 2.5) == judged.positive for column in (judged.score, judged.other)]
    return [
        faithfulness([] if score == 1 else [first, second])
        for score, first, second in zip(judged.score, *agree, strict=True)
    ]


def figures(result, back=None, path=()):
    """Every estimate, number and verdict of a result, by its place in it; rows by the names of their raters."""
    back = back or {}
    if isinstance(result, Estimate) or result is None or isinstance(result, (bool, int, float, Enum)):
        yield path, result
    elif isinstance(result, dict):
        for name, part in result.items():
            yield from figures(part, back, (*path, name))
    elif isinstance(result, (list, tuple)):
        for number, part in enumerate(result):
            names = [getattr(part, name, None) for name in ("annotator", "rater", "a", "b", "key", "value")]
            names = sorted(back.get(name, name) for name in names if isinstance(name, str))
            yield from figures(part, back, (*path, *(names or [number])))
    elif is_dataclass(result):
        for field in fields(result):
            yield from figures(getattr(result, field.name), back, (*path, field.name))


def estimates(result):
    return {path: found for path, found in figures(result) if isinstance(found, Estimate)}


def same(one, other, within=1e-7):
    assert one.keys() == other.keys()
    for path, found in one.items():
        against = other[path]
        if not isinstance(found, Estimate):
            assert against == (pytest.approx(found, abs=1e-9) if isinstance(found, float) else found), path
            continue
        for name in ("value", "low", "high"):
            assert getattr(against, name) == pytest.approx(getattr(found, name), abs=within), (path, name)
        assert against.method == found.method, path
        assert (against.n, against.clusters, against.reason) == (found.n, found.clusters, found.reason), path


# Data

PEOPLE = ("ann", "bob", "cat", "dan")


@st.composite
def people(draw):
    raters = [*PEOPLE[: draw(st.integers(2, 4))], "judge"]
    units = draw(st.integers(1, 14))
    cells = draw(st.lists(st.tuples(st.integers(0, units - 1), st.sampled_from(raters)), unique=True, max_size=50))
    value = draw(st.lists(st.sampled_from(LEVELS), min_size=len(cells), max_size=len(cells)))
    unit = [unit for unit, _ in cells]
    return People(unit, [r for _, r in cells], value, [u // 2 for u in unit], "ann", "bob", "judge")


@st.composite
def judged(draw):
    half = st.integers(2, 9).map(lambda twice: twice / 2)
    rows = draw(st.lists(st.tuples(half, half, st.sampled_from(LEVELS), st.integers(0, 25)), max_size=60))
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    score, other, human = (np.array(column, dtype=float) for column in columns[:3])
    cluster = np.array(columns[3], dtype=int)
    return Judged(score, other, human.astype(int), cluster, np.where(cluster % 2, "en", "de"))


#: Where tables tie in everything else, the first by its raters' names is taken (see agreement.icc.complete_table).
NAMES_BREAK_TIES = {"intraclass_correlation"}
OTHERWISE = {"ann": "zoe", "bob": "yan", "cat": "xia", "dan": "wim", "judge": "a machine"}
IN_ORDER = {"ann": "wim", "bob": "xia", "cat": "yan", "dan": "zoe", "judge": "zz, a machine"}


def shuffled(data, seed, names=OTHERWISE):
    """The same data in another order, under other names; and how to read the names."""
    rng = np.random.default_rng(seed)
    if isinstance(data, Judged):
        order = rng.permutation(data.score.size)
        score, other, human, cluster, language = (column[order] for column in data)
        named = np.array([f"sample {code}" for code in rng.permutation(1000)])
        return Judged(score, other, human, named[cluster], language), {}
    order, codes = rng.permutation(len(data.unit)), rng.permutation(1000)
    unit, rater, value, cluster = ([column[at] for at in order] for column in data[:4])
    renamed = People(
        [f"unit {codes[one]}" for one in unit],
        [names[one] for one in rater],
        value,
        [f"sample {codes[one]}" for one in cluster],
        *(names[name] for name in (data.first, data.second, data.judge)),
    )
    return renamed, {new: old for old, new in names.items()}


def data_for(name):
    return judged() if name in OF_COLUMNS else people()


# Order and names, grouping, bounds


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=15, deadline=None)
@given(st.data(), st.integers(0, 10_000))
def test_order_and_names_mean_nothing(name, data, seed):
    drawn = data.draw(data_for(name))
    other, back = shuffled(drawn, seed, IN_ORDER if name in NAMES_BREAK_TIES else OTHERWISE)
    _, statistic = EVERY[name]
    same(dict(figures(statistic(drawn))), dict(figures(statistic(other), back)))


def hundreds(name):
    """400 units in samples of two. People, of whom each rates two thirds, and judges say something like the truth."""
    rng = np.random.default_rng(3)
    truth, cluster = np.repeat(rng.integers(1, 5, size=200), 2), np.arange(400) // 2
    if name in OF_COLUMNS:
        score, other = np.clip(np.round(2 * truth + rng.normal(0, 1.5, size=(2, 400))) / 2, 1, 4.5)
        return Judged(score, other, truth, cluster, np.where(cluster % 2, "en", "de"))
    slips = rng.integers(-1, 2, size=(5, 400)) * (rng.random((5, 400)) < 0.5)
    rater, unit = np.nonzero(rng.random((5, 400)) < 0.67)
    value = np.clip(truth + slips, 1, 4)[rater, unit]
    names = [(*PEOPLE, "judge")[code] for code in rater]
    return People(unit.tolist(), names, value.tolist(), cluster[unit].tolist(), "ann", "bob", "judge")


@pytest.mark.parametrize("name", EVERY)
def test_order_and_names_mean_nothing_to_hundreds_of_units(name):
    drawn = hundreds(name)
    other, back = shuffled(drawn, 5, IN_ORDER if name in NAMES_BREAK_TIES else OTHERWISE)
    _, statistic = EVERY[name]
    found = dict(figures(statistic(drawn)))
    assert any(figure.low is not None for figure in found.values() if isinstance(figure, Estimate))
    same(found, dict(figures(statistic(other), back)), within=1e-12)


#: A sample's decisions are bounded together; slices of few samples have no figures; an answer is repeated in its unit.
CLUSTERS_MATTER = {"certified_region", "slices_at_threshold", "self_consistency"}


@pytest.mark.parametrize("name", [name for name in EVERY if name not in CLUSTERS_MATTER])
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_grouped_or_not_the_values_are_the_same(name, data):
    """Clusters widen intervals. They move no value."""
    drawn = data.draw(data_for(name))
    alone = np.arange(drawn.cluster.size) if isinstance(drawn, Judged) else list(drawn.unit)
    _, statistic = EVERY[name]
    one, other = (estimates(statistic(each)) for each in (drawn, drawn._replace(cluster=alone)))
    assert one.keys() == other.keys()
    for path, found in one.items():
        if path[-1:] in (("winning_rate_clustered",), ("tuned",)):
            continue  # a share of tests, which see clusters; the weight that is best for these clusters
        # A refusal may hang on the interval: no better than chance, errors that can't be independent.
        if name not in ("judge_under_noise", "corrected_rate") or None not in (found.value, other[path].value):
            assert other[path].value == pytest.approx(found.value, abs=1e-9), path


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_bounds_and_reasons(name, data):
    (lowest, highest), statistic = EVERY[name]
    for path, found in estimates(statistic(data.draw(data_for(name)))).items():
        json.dumps(found.as_dict(), allow_nan=False)
        # Figures under noise also rest on units without the judge, which n doesn't count.
        assert 0 <= found.clusters <= found.n or not found.n or name == "judge_under_noise", path
        if found.value is None:
            assert found.reason, path
            assert (found.low, found.high) == (None, None), path
            continue
        assert lowest - 1e-9 <= found.value <= highest + 1e-9, path
        assert found.reason if found.low is None else found.reason is None, path
        if found.low is not None:
            assert found.low - 1e-9 <= found.value <= found.high + 1e-9, path
            assert found.high <= highest, path


@settings(max_examples=50, deadline=None)
@given(judged())
def test_counted_or_listed_the_figures_are_the_same(data):
    """A confusion matrix, and the units it was counted from."""
    found = at_threshold(data.score, data.positive, data.cluster, 2.5, **NONE)
    cells = np.array(found.confusion, dtype=float).ravel()
    for name in ("kappa", "tpr", "tnr", "precision", "f1", "accuracy", "mcc"):
        counted = float(getattr(binary, name)(cells))
        listed = getattr(found, name).value
        assert np.isnan(counted) if listed is None else listed == pytest.approx(counted), name
    given, judge = data.human - 1, np.array(labels(data.score), dtype=int) - 1
    table = np.bincount(4 * given + judge, minlength=16).reshape(4, 4) if given.size else np.zeros((4, 4))
    listed = judge_label_kappa(
        data.human.tolist(), labels(data.score), data.cluster.tolist(), scale="ordinal", levels=LEVELS, **NONE
    )
    for name, weights in (("kappa", None), ("linear", "linear"), ("quadratic", "quadratic")):
        apart = disagreement(4, weights)
        counted = kappa_of_margins((table * apart).sum(), table.sum(axis=1), table.sum(axis=0), apart)
        value = getattr(listed, name).value
        if value is not None:
            assert value == pytest.approx(float(counted)), name


# Symmetry


@settings(max_examples=50, deadline=None)
@given(people())
def test_who_comes_first_means_nothing_to_agreement(data):
    turned = data._replace(first=data.second, second=data.first)
    for name in ("cohen_kappa", "scott_pi"):
        same(dict(figures(OF_PEOPLE[name][1](data))), dict(figures(OF_PEOPLE[name][1](turned))))


@settings(max_examples=50, deadline=None)
@given(judged())
def test_judge_and_human_change_places(data):
    judge, human = (data.score >= 2.5), data.positive
    one = at_threshold(judge, human, data.cluster, 0.5, **ASKED)
    other = at_threshold(human, judge, data.cluster, 0.5, **ASKED)
    for name, turned in (("kappa", "kappa"), ("mcc", "mcc"), ("accuracy", "accuracy"), ("f1", "f1"),
                         ("tpr", "precision"), ("precision", "tpr")):  # fmt: skip
        mine, theirs = getattr(one, name), getattr(other, turned)
        for end in ("value", "low", "high"):
            assert getattr(mine, end) == pytest.approx(getattr(theirs, end), abs=1e-9), name
    for statistic in (pearson, spearman, kendall):
        mine, theirs = (
            statistic(x, y, data.cluster, **ASKED) for x, y in ((data.score, data.human), (data.human, data.score))
        )
        assert (mine.value, mine.low) == (pytest.approx(theirs.value), pytest.approx(theirs.low))
    mine, theirs = (
        bland_altman(x, y, data.cluster, **ASKED) for x, y in ((data.score, data.human), (data.human, data.score))
    )
    if mine.bias.value is not None:
        assert mine.bias.value == pytest.approx(-theirs.bias.value)
    if mine.lower_limit.value is not None:
        assert mine.lower_limit.value == pytest.approx(-theirs.upper_limit.value)


@settings(max_examples=50, deadline=None)
@given(judged())
def test_the_other_judge_first_turns_the_difference(data):
    one = paired_at_thresholds(data.score, data.other, data.positive, data.cluster, (2.5, 2.0), **ASKED)
    other = paired_at_thresholds(data.other, data.score, data.positive, data.cluster, (2.0, 2.5), **ASKED)
    for name in ("kappa", "tpr", "tnr", "accuracy"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine.reason == theirs.reason
        if mine.value is not None:
            assert mine.value == pytest.approx(-theirs.value)
        if mine.low is not None:
            assert mine.low == pytest.approx(-theirs.high)


# Perfect agreement is 1, chance is 0


def everyone_agrees(units=24):
    rows = [(unit, rater, 1 + unit % 4) for unit in range(units) for rater in ("ann", "bob", "cat", "judge")]
    unit, rater, value = map(list, zip(*rows, strict=True))
    return People(unit, rater, value, unit, "ann", "bob", "judge")


def a_perfect_judge(units=24):
    human = 1 + np.arange(units) % 4
    return Judged(human.astype(float), human.astype(float), human, np.arange(units), np.where(human % 3, "en", "de"))


#: What is not 1 where all agree: differences and errors are 0, and so are flips.
ZERO = {
    "human_ceiling": {"difference"},
    "alternative_annotator_test": {"difference"},
    "paired_at_thresholds": {"kappa", "tpr", "tnr", "accuracy"},
    "paired_labels": {"percent", "kappa", "linear", "quadratic"},
    "slices_at_threshold": {"kappa", "tpr", "tnr", "accuracy"},
    "bland_altman": {"bias", "lower_limit", "upper_limit"},
    "risk_coverage": {"aurc"},
    "certified_region": {"false_passes", "false_fails"},
    "self_consistency": {"flip_rate"},
}


#: These are of no agreement: test_a_perfect_calibration, test_a_perfect_judge_leaves_shares_and_means.
NO_AGREEMENT = {"calibration_figures", "corrected_rate", "ppi_mean", "weighted_mean"}


@pytest.mark.parametrize("name", [name for name in EVERY if name not in NO_AGREEMENT])
def test_perfect_agreement_is_one(name):
    found = estimates(EVERY[name][1](a_perfect_judge() if name in OF_COLUMNS else everyone_agrees()))
    values = {path: estimate.value for path, estimate in found.items() if estimate.value is not None}
    assert values or name in ("slices_at_threshold", "self_consistency")
    for path, value in values.items():
        # Each judge's own figures stand inside a comparison, under first, second and result.
        own = any(part in ("first", "second", "result") for part in path)
        zero = not own and (path[-1] if path else "") in ZERO.get(name, ())
        assert value == pytest.approx(0 if zero else 1, abs=1e-12), path


def test_a_perfect_calibration():
    human = np.arange(30) % 2 == 0
    found = calibration_figures(human, human, np.arange(30), probability=human.astype(float), **NONE)
    assert (found.kappa.value, found.brier.value, found.log_loss.value, found.ece.value) == (1, 0, 0, 0)
    assert found.ece_if_perfect.value == 0


def test_a_perfect_judge_leaves_shares_and_means():
    """What people say of the labelled units is what the judge says, and is right of the others."""
    data, others = a_perfect_judge(24), a_perfect_judge(40)
    at = 24 + others.cluster
    rate = corrected_rate(data.positive, data.positive, data.cluster, others.positive[:30], at[:30], **NONE)
    assert (rate.rate.value, rate.judged.value) == (pytest.approx(14 / 30), pytest.approx(14 / 30))
    assert (rate.tpr.value, rate.tnr.value, rate.signal.value) == (1, 1, 1)
    assert ppi_mean(data.human, data.score, data.cluster, others.score[:30], at[:30], **NONE).plain.value == (
        pytest.approx(others.human[:30].mean())
    )
    same_mean = ppi_mean(data.human, data.score, data.cluster, others.score, at, **NONE)
    for estimate in (same_mean.tuned, same_mean.plain, same_mean.classical):
        assert estimate.value == pytest.approx(2.5)
    assert weighted_mean(data.positive, data.cluster, *chances(data), **NONE).value == (
        pytest.approx((10 + 2) / (10 + 3 * 2))
    )


def independent(rows, columns):
    """Two columns of values 1, 2, …: every pair as often as the product of its margins says."""
    pairs = [(i + 1, j + 1) for i, a in enumerate(rows) for j, b in enumerate(columns) for _ in range(a * b)]
    return np.array(pairs).T


def two_people(a, b):
    units = list(range(len(a)))
    return People(units * 2, ["ann"] * len(a) + ["bob"] * len(a), [*a, *b], units * 2, "ann", "bob", "judge")


@pytest.mark.parametrize(
    ("rows", "columns"), [((1, 2, 3, 1), (2, 1, 1, 4)), ((1, 1, 1, 1), (1, 1, 1, 1)), ((5, 1, 1, 1), (5, 1, 1, 1))]
)
def test_chance_is_exactly_zero_on_independent_tables(rows, columns):
    a, b = (column.tolist() for column in independent(rows, columns))
    data = two_people(a, b)
    for estimate in OF_PEOPLE["cohen_kappa"][1](data):
        assert estimate.value == pytest.approx(0, abs=1e-12)
    if rows == columns:
        for name in ("scott_pi", "fleiss_kappa", "mean_pairwise_pi"):
            assert OF_PEOPLE[name][1](data).value == pytest.approx(0, abs=1e-12), name
        # Krippendorff's chance draws two of the values without putting the first one back.
        for estimate in OF_PEOPLE["krippendorff_alpha"][1](data):
            assert estimate.value == pytest.approx(1 / (2 * len(a)), abs=1e-12)
    if len({*rows, *columns}) == 1:
        for name in ("brennan_prediger", "gwet_ac1"):
            assert OF_PEOPLE[name][1](data).value == pytest.approx(0, abs=1e-12), name
        for estimate in OF_PEOPLE["gwet_ac2"][1](data):
            assert estimate.value == pytest.approx(0, abs=1e-12)
    share = sum(r * c for r, c in zip(rows, columns, strict=True)) / (sum(rows) * sum(columns))
    assert OF_PEOPLE["percent_agreement"][1](data).value == pytest.approx(share)


@pytest.mark.parametrize(("rows", "columns"), [((1, 2, 3, 1), (2, 1, 1, 4)), ((1, 0, 0, 6), (3, 1, 1, 1))])
def test_a_judge_by_chance(rows, columns):
    score, human = independent(rows, columns)
    data = Judged(score.astype(float), score.astype(float), human, np.arange(human.size), np.where(human % 2, "a", "b"))
    passed = data.positive.mean()
    found = at_threshold(data.score, data.positive, data.cluster, 2.5, **NONE)
    assert (found.kappa.value, found.mcc.value) == pytest.approx((0, 0), abs=1e-12)
    assert found.tpr.value + found.tnr.value == pytest.approx(1)
    assert found.precision.value == pytest.approx(passed)
    alike = np.full(human.size, 0.2), np.zeros(human.size, dtype=int)
    weighted = weighted_at_threshold(data.score, data.positive, data.cluster, 2.5, *alike, **NONE)
    assert weighted.kappa.value == pytest.approx(0, abs=1e-12)
    assert weighted.tpr.value + weighted.tnr.value == pytest.approx(1)
    judge = data.score >= 2.5
    assert corrected_rate(judge, data.positive, data.cluster, judge, data.cluster, **NONE).rate.reason == BY_CHANCE
    assert roc_auc(data.score, data.positive, data.cluster, **NONE).value == pytest.approx(0.5)
    assert pr_auc(data.score, data.positive, data.cluster, **NONE).value == pytest.approx(passed)
    assert np.nanmax(np.abs(sweep(data.score, data.positive).kappa)) == pytest.approx(0, abs=1e-12)
    for statistic in (pearson, spearman, kendall):
        assert statistic(data.score, data.human, data.cluster, **NONE).value == pytest.approx(0, abs=1e-12)
    answers = OF_COLUMNS["judge_label_kappa"][1](data)
    for estimate in (answers.kappa, answers.linear, answers.quadratic):
        assert estimate.value == pytest.approx(0, abs=1e-12)
    constant = calibration_figures(
        data.positive, data.positive, data.cluster, probability=np.full(human.size, passed), **NONE
    )
    assert constant.ece.value == pytest.approx(0, abs=1e-12)
    assert constant.brier.value == pytest.approx(passed * (1 - passed))


def test_other_judges_by_chance(rng):
    """Where chance has no exact table: a judge that tosses a coin, on many units."""
    units = 4000
    truth = rng.random(units) < 0.5
    people = [np.where(rng.random(units) < 0.9, truth, ~truth) for _ in range(3)]
    everyone = [*people, rng.random(units) < 0.5]
    data = People(
        list(range(units)) * 4,
        [name for name in ("ann", "bob", "cat", "judge") for _ in range(units)],
        [4 if passed else 1 for column in everyone for passed in column],
        list(range(units)) * 4,
        "ann",
        "bob",
        "judge",
    )
    assert OF_PEOPLE["cohen_kappa"][1](data)[0].value == pytest.approx(0.64, abs=0.05)
    ceiling = human_ceiling(data.ratings(True), "judge", **ASKED)
    assert ceiling.judge.value == pytest.approx(0, abs=0.05)
    assert ceiling.difference.high < -0.05
    test = alternative_annotator_test(data.ratings(True), "judge", 0.1, **ASKED)
    assert (test.passes, test.winning_rate.value) == (False, 0)
    for under in WITH_A_JUDGE["judge_under_noise"][1](data):
        assert under.tpr.value + under.tnr.value == pytest.approx(1, abs=0.05)


# Undefined, each with its reason


def two(a, b, levels=(1, 2), scale="ordinal", raters=("ann", "bob")):
    """Ratings of two raters, None where one is missing."""
    rows = [
        (unit, rater, value)
        for rater, column in zip(raters, (a, b), strict=True)
        for unit, value in enumerate(column)
        if value is not None
    ]
    unit, rater, value = zip(*rows, strict=True)
    return Ratings.from_columns(unit, rater, value, unit, scale=scale, levels=levels)


ONE_CATEGORY, APART, NOMINAL = two([1] * 12, [1] * 12), two([1, None], [None, 2]), two("xyx", "xyy", "xyz", "nominal")
BARE, WORDS = two([0.1, 0.2], [0.1, 0.3], None, "interval"), two("xyx", "xyy", "xyz")
ONE_COMMON, THREE_COMMON = two([1, 2], [2, None]), two([1, 2, 1], [2, 2, 1])
ONE_VALUE = two([0.1, 0.1], [0.1, 0.1], None, "interval")
BARE_APART = two([0.1, None], [None, 0.2], None, "interval")
SIGNS = two([-1, 2, 2], [2, -1, 2], (-1, 2), "interval")
MANY_VALUES = two(*np.random.default_rng(1).random((2, 501)).tolist(), None, "interval")
PAIR = ("ann", "bob")
FEW = remark("few_units")
BY_CHANCE = remark("no_better_than_chance")
COMMON = "units in common with the judge and a majority of the others"
EMPTY = [[], [], []]
TEN = 10 * [1.0], 10 * [True], range(10)


#: Two positive and two negative units, of which the judge knows half.
GUESSED = [1, 0, 1, 0], [1, 1, 0, 0], range(4)
#: Two labelled units, of which the judge is right, and two others.
ALL_POSITIVE, ALL_NEGATIVE = ([1, 1], [1, 1], [1, 2], [1, 0], [3, 4]), ([0, 0], [0, 0], [1, 2], [1, 0], [3, 4])
DRAWN = [0.5, 0.5], [0, 0]


def named(call, field):
    return lambda: getattr(call(), field)


UNDEFINED = {
    "cohen_kappa": [
        (lambda: cohen_kappa(ONE_CATEGORY, *PAIR, **NONE), remark("one_category")),
        (lambda: cohen_kappa(APART, *PAIR, **NONE), remark("few_common_units")),
        (lambda: cohen_kappa(ONE_CATEGORY, *PAIR, "quadratic", **NONE), remark("one_category")),
        (lambda: cohen_kappa(ONE_COMMON, *PAIR, **NONE), remark("few_common_units")),
        (lambda: cohen_kappa(NOMINAL, *PAIR, "linear", **NONE), remark("no_order")),
        (lambda: cohen_kappa(NOMINAL, *PAIR, "quadratic", **NONE), remark("no_order")),
        (lambda: cohen_kappa(BARE, *PAIR, **NONE), remark("no_levels")),
        (lambda: cohen_kappa(BARE, *PAIR, "linear", **NONE), remark("no_levels")),
    ],
    "scott_pi": [
        (lambda: scott_pi(ONE_CATEGORY, *PAIR, **NONE), remark("one_category")),
        (lambda: scott_pi(APART, *PAIR, **NONE), remark("few_common_units")),
        (lambda: scott_pi(ONE_COMMON, *PAIR, **NONE), remark("few_common_units")),
        (lambda: scott_pi(BARE, *PAIR, **NONE), remark("no_levels")),
    ],
    "mean_pairwise_kappa": [
        (lambda: mean_pairwise_kappa(ONE_CATEGORY, **NONE), remark("one_category_in_every_pair")),
        (lambda: mean_pairwise_kappa(APART, **NONE), remark("no_pair_with_common_units", n=10)),
        (lambda: mean_pairwise_kappa(THREE_COMMON, **NONE), remark("no_pair_with_common_units", n=10)),
        (lambda: mean_pairwise_kappa(NOMINAL, "linear", 2, **NONE), remark("no_order")),
        (lambda: mean_pairwise_kappa(NOMINAL, "quadratic", **NONE), remark("no_order")),
        (lambda: mean_pairwise_kappa(BARE, **NONE), remark("no_levels")),
    ],
    "mean_pairwise_pi": [
        (lambda: mean_pairwise_pi(ONE_CATEGORY, **NONE), remark("one_category_in_every_pair")),
        (lambda: mean_pairwise_pi(APART, **NONE), remark("no_pair_with_common_units", n=10)),
        (lambda: mean_pairwise_pi(ONE_COMMON, 2, **NONE), remark("no_pair_with_common_units", n=2)),
        (lambda: mean_pairwise_pi(BARE, 2, **NONE), remark("no_levels")),
    ],
    "percent_agreement": [
        (lambda: percent_agreement(APART, **NONE), remark("no_pairs")),
        (lambda: percent_agreement(BARE, **NONE), remark("no_levels")),
    ],
    "fleiss_kappa": [
        (lambda: fleiss_kappa(ONE_CATEGORY, **NONE), remark("one_category")),
        (lambda: fleiss_kappa(APART, **NONE), remark("no_pairs")),
        (lambda: fleiss_kappa(BARE, **NONE), remark("no_levels")),
    ],
    "brennan_prediger": [
        (lambda: brennan_prediger(APART, **NONE), remark("no_pairs")),
        (lambda: brennan_prediger(BARE, **NONE), remark("no_levels")),
    ],
    "gwet_ac1": [
        (lambda: gwet_ac1(APART, **NONE), remark("no_pairs")),
        (lambda: gwet_ac1(BARE, **NONE), remark("no_levels")),
    ],
    "gwet_ac2": [
        *(
            (lambda ratings=ratings, weights=weights: gwet_ac2(ratings, weights, **NONE), remark(reason))
            for ratings, reason in ((APART, "no_pairs"), (NOMINAL, "no_order"), (BARE, "no_levels"))
            for weights in ("linear", "quadratic")
        ),
    ],
    "krippendorff_alpha": [
        *(
            (lambda ratings=ratings, metric=metric: krippendorff_alpha(ratings, metric, **NONE), remark(reason))
            for ratings, reason, metrics in (
                (ONE_CATEGORY, "one_category", ("nominal", "ordinal", "interval", "ratio")),
                (APART, "no_pairs", ("nominal", "ratio")),
                (BARE_APART, "no_pairs", ("interval",)),
                (NOMINAL, "no_order", ("ordinal", "interval", "ratio")),
                (WORDS, "not_numbers", ("interval", "ratio")),
                (SIGNS, "negative_values", ("ratio",)),
                (two([-1, 1, 0], [-1, 0, 0], (-1, 0, 1)), "negative_values", ("ratio",)),
                (two([-0.1, 0.2], [0.1, 0.3], None, "interval"), "negative_values", ("ratio",)),
                (BARE, "no_levels", ("nominal", "ordinal")),
                (ONE_VALUE, "one_value", ("interval", "ratio")),
            )
            for metric in metrics
        ),
        (lambda: krippendorff_alpha(MANY_VALUES, "ratio", **NONE), remark("too_many_values", n=1000)),
    ],
    "intraclass_correlation": [
        *(
            (lambda ratings=ratings, form=form: intraclass_correlation(ratings, form, **NONE), remark(reason))
            for ratings, form, reason in (
                (ONE_CATEGORY, "one-way", "one_value"),
                (ONE_VALUE, "agreement", "one_value"),
                (APART, "one-way", "no_pairs"),
                (BARE_APART, "one-way", "no_pairs"),
                (ONE_COMMON, "one-way", "few_paired_units"),
                (APART, "agreement", "no_complete_table"),
                (ONE_COMMON, "consistency", "no_complete_table"),
                (BARE_APART, "consistency", "no_complete_table"),
                (NOMINAL, "one-way", "no_order"),
                (WORDS, "agreement", "not_numbers"),
                (WORDS, "consistency", "not_numbers"),
            )
        ),
    ],
    "agreement_summary": [
        (lambda: agreement_summary(APART, **NONE)["fleiss_kappa"], remark("no_pairs")),
        (lambda: agreement_summary(NOMINAL, **NONE)["krippendorff_alpha_ordinal"], remark("no_order")),
    ],
    "pairwise": [(lambda: pairwise(ONE_CATEGORY, **NONE)[0].kappa, remark("one_category"))],
    "annotator_errors": [
        (lambda: annotator_errors(APART, [2], **NONE).together.accuracy, remark("no_pairs")),
        (lambda: annotator_errors(ONE_CATEGORY, [1], **NONE).together.tnr, remark("reference_fails_none")),
        (lambda: annotator_errors(APART, [2], "ann", **NONE).together.tpr, remark("no_gold")),
    ],
    "agreement_with_rest": [
        (lambda: agreement_with_rest(BARE, **NONE).together.percent, remark("no_levels")),
        (lambda: agreement_with_rest(ONE_CATEGORY, **NONE).together.kappa, remark("one_category")),
    ],
    "human_ceiling": [
        (lambda: human_ceiling(APART, "bob", **NONE).difference, remark("no_annotator_with_majority", n=10)),
        (lambda: human_ceiling(NOMINAL, "bob", "linear", **NONE).difference, remark("no_order")),
        (lambda: human_ceiling(BARE, "bob", **NONE).difference, remark("no_levels")),
    ],
    "alternative_annotator_test": [
        (
            lambda: alternative_annotator_test(ONE_CATEGORY, "bob", 0.2, **NONE).advantage,
            remark("no_annotator_with_items", n=30),
        ),
        (lambda: alternative_annotator_test(WORDS, "bob", 0.2, "rmse", **NONE).advantage, remark("not_numbers")),
        (lambda: alternative_annotator_test(BARE, "bob", 0.2, **NONE).winning_rate, remark("no_levels")),
    ],
    "judge_under_noise": [
        (lambda: judge_under_noise(APART, "bob", [2], "one rate", **NONE).accuracy, remark("no_pairs")),
        (lambda: judge_under_noise(APART, "bob", [2], "two rates", **NONE).accuracy, remark("no_triples")),
    ],
    "at_threshold": [
        (named(lambda: at_threshold(*EMPTY, 0.5, **NONE), "kappa"), remark("no_units")),
        (named(lambda: at_threshold([0.1, 0.9], [1, 1], [1, 2], 0.0, **NONE), "kappa"), remark("one_category")),
        (named(lambda: at_threshold(*TEN, 0.5, **NONE), "tnr"), remark("no_negative")),
        (named(lambda: at_threshold([0.1], [False], [1], 0.5, **NONE), "tpr"), remark("no_positive")),
        (named(lambda: at_threshold([0.1], [True], [1], 0.5, **NONE), "precision"), remark("no_positive_by_judge")),
        (
            named(lambda: at_threshold([0.1], [False], [1], 0.5, **NONE), "f1"),
            remark("no_positive_by_either"),
        ),
        (named(lambda: at_threshold(*TEN, 0.5, **NONE), "mcc"), remark("one_category_by_either")),
    ],
    "paired_at_thresholds": [
        (named(lambda: paired_at_thresholds([], *EMPTY, (0, 0), **NONE), "kappa"), remark("no_units")),
        (
            named(lambda: paired_at_thresholds(TEN[0], *TEN, (0, 0), **NONE), "tnr"),
            remark("no_negative"),
        ),
    ],
    "slices_at_threshold": [
        (
            lambda: slices_at_threshold(*TEN, 0.5, {"language": ["en"] * 5 + ["de"] * 5}, **NONE)[0].kappa,
            remark("few_samples_in_slice", n=10),
        ),
        (
            lambda: slices_at_threshold(*TEN, 0.5, {"language": ["en"] * 10}, **NONE)[0].tpr,
            remark("few_samples_outside_slice", n=10),
        ),
    ],
    "judge_label_kappa": [
        (
            named(lambda: judge_label_kappa("x", "x", [1], scale="nominal", levels="xy", **NONE), "kappa"),
            remark("few_common_units"),
        ),
        (
            named(lambda: judge_label_kappa("xx", "xx", [1, 2], scale="nominal", levels="xy", **NONE), "linear"),
            remark("no_order"),
        ),
    ],
    "paired_labels": [
        (
            named(lambda: paired_labels([], [], [], [], scale="nominal", levels="xy", **NONE), "percent"),
            remark("no_units"),
        ),
    ],
    "roc_auc": [
        (lambda: roc_auc(*TEN, **NONE), remark("no_negative")),
        (lambda: roc_auc([1.0], [False], [1], **NONE), remark("no_positive")),
    ],
    "pr_auc": [
        (lambda: pr_auc(*TEN, **NONE), remark("no_negative")),
        (lambda: pr_auc([1.0], [False], [1], **NONE), remark("no_positive")),
    ],
    **{
        statistic.__name__: [
            (lambda statistic=statistic: statistic([1.0], [2.0], [1], **NONE), FEW),
            (lambda statistic=statistic: statistic([], [], [], **NONE), FEW),
            (lambda statistic=statistic: statistic([1, 1], [1, 2], [1, 2], **NONE), remark("equal_scores")),
            (
                lambda statistic=statistic: statistic([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], range(3), **NONE),
                remark("equal_scores"),
            ),
            (lambda statistic=statistic: statistic([1, 2], [1, 1], [1, 2], **NONE), remark("equal_human_values")),
        ]
        for statistic in (pearson, spearman, kendall)
    },
    "bland_altman": [
        (named(lambda: bland_altman(*EMPTY, **NONE), "bias"), remark("no_units")),
        (named(lambda: bland_altman([1.0], [2.0], [1], **NONE), "lower_limit"), FEW),
    ],
    "calibration_figures": [
        (named(lambda: calibration_figures(*EMPTY, **NONE), "kappa"), remark("no_units")),
        (named(lambda: calibration_figures(*TEN, **NONE), "kappa"), remark("one_category")),
        (named(lambda: calibration_figures(*TEN, **NONE), "brier"), remark("no_probabilities")),
        (
            named(lambda: calibration_figures([1, 0], [0, 0], [1, 2], probability=[1.0, 0.2], **NONE), "log_loss"),
            remark("infinite_log_loss", wrong=1, n=2),
        ),
    ],
    "risk_coverage": [(named(lambda: risk_coverage(*EMPTY, 0.5, **NONE), "aurc"), remark("no_units"))],
    "certified_region": [
        (lambda: certified_region(*TEN, 0.5, [0.9]).step.false_passes, remark("no_negative")),
        (lambda: certified_region(*TEN, 0.5, [0.9]).step.false_fails, remark("no_positive")),
    ],
    "corrected_rate": [
        (named(lambda: corrected_rate(*EMPTY, [1, 0], [3, 4], **NONE), "rate"), remark("no_positive")),
        (named(lambda: corrected_rate(*ALL_NEGATIVE, **NONE), "rate"), remark("no_positive")),
        (named(lambda: corrected_rate(*ALL_NEGATIVE, **NONE), "tpr"), remark("no_positive")),
        (named(lambda: corrected_rate(*ALL_NEGATIVE, **NONE), "signal"), remark("no_positive")),
        (named(lambda: corrected_rate(*ALL_POSITIVE, **NONE), "rate"), remark("no_negative")),
        (named(lambda: corrected_rate(*ALL_POSITIVE, **NONE), "tnr"), remark("no_negative")),
        (named(lambda: corrected_rate(*ALL_POSITIVE, **NONE), "signal"), remark("no_negative")),
        (named(lambda: corrected_rate([1, 0], [1, 0], [1, 2], [], [], **NONE), "rate"), remark("no_unlabelled")),
        (named(lambda: corrected_rate([1, 0], [1, 0], [1, 2], [], [], **NONE), "judged"), remark("no_unlabelled")),
        (named(lambda: corrected_rate(*GUESSED, [1, 0], [5, 6], **ASKED), "rate"), BY_CHANCE),
        (
            named(lambda: corrected_rate([1, 0, 1, 0, 0], [1, 1, 0, 0, 0], range(5), [1], [5], **ASKED), "rate"),
            remark("no_signal"),
        ),
    ],
    "ppi_mean": [
        *(
            (named(lambda: ppi_mean(*EMPTY, [0.5], [1], **NONE), name), remark("no_labelled"))
            for name in ("tuned", "plain", "classical")
        ),
        *(
            (named(lambda: ppi_mean([1, 0], [0.5, 0.4], [1, 2], [], [], **NONE), name), remark("no_unlabelled"))
            for name in ("tuned", "plain")
        ),
    ],
    "weighted_mean": [(lambda: weighted_mean(*EMPTY, [], **NONE), remark("no_units"))],
    "weighted_at_threshold": [
        (named(lambda: weighted_at_threshold(*EMPTY, 0.5, [], [], **NONE), "kappa"), remark("no_units")),
        (named(lambda: weighted_at_threshold(*EMPTY, 0.5, [], [], **NONE), "accuracy"), remark("no_units")),
        (
            named(lambda: weighted_at_threshold([0.1, 0.9], [1, 1], [1, 2], 0.0, *DRAWN, **NONE), "kappa"),
            remark("one_category"),
        ),
        (
            named(lambda: weighted_at_threshold([0.1, 0.9], [1, 1], [1, 2], 0.5, *DRAWN, **NONE), "tnr"),
            remark("no_negative"),
        ),
        (
            named(lambda: weighted_at_threshold([0.1, 0.9], [0, 0], [1, 2], 0.5, *DRAWN, **NONE), "tpr"),
            remark("no_positive"),
        ),
    ],
    "weighted_grades": [
        (lambda: weighted_grades([], [], 3, [], [], [], **NONE), remark("no_units")),
        (lambda: weighted_grades([1, 1], [1, 1], 3, [1, 2], *DRAWN, **NONE), remark("one_category")),
    ],
    "weighted_roc_auc": [
        (lambda: weighted_roc_auc([0.1, 0.9], [1, 1], [1, 2], *DRAWN, **NONE), remark("no_negative")),
        (lambda: weighted_roc_auc(*EMPTY, [], [], **NONE), remark("no_positive")),
    ],
    "mean_over_samples": [
        (lambda: mean_over_samples([], [], **NONE), remark("no_samples")),
        (lambda: mean_over_samples([faithfulness([])] * 2, [1, 2], **NONE), remark("undefined_in_every_sample")),
    ],
    "clustered_share": [
        (lambda: clustered_share([], [], name="share", undefined=remark("no_units")), remark("no_units")),
    ],
    "watch_drift": [(lambda: watch_drift(*EMPTY, 0.05).error, remark("no_units"))],
    "anchoring": [
        (named(lambda: anchoring([1], [1], [1], [1]), name), remark("few_groups_of_an_arm", n=10))
        for name in ("more", "shown", "withheld")
    ],
    "retrieval_figures": [(lambda: retrieval_figures({}, {"q": ["a"]}, k=5).metrics["R"], remark("no_units"))],
    "self_consistency": [
        (
            lambda: self_consistency([1, 2], ["ann"] * 2, "xy", [1, 2], **NONE).pooled.agreement,
            remark("nothing_rated_twice"),
        ),
        (
            lambda: self_consistency([1, 1, 2], ["ann", "ann", "bob"], "xyx", [1, 1, 2], **NONE).raters[1].flip_rate,
            remark("rater_rated_nothing_twice"),
        ),
    ],
}
CASES = [(name, number) for name, cases in UNDEFINED.items() for number in range(len(cases))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_undefined_is_none_with_a_reason(name, number):
    call, reason = UNDEFINED[name][number]
    found = call()
    assert (found.value, found.low, found.high) == (None, None, None)
    assert found.reason == reason
    json.dumps(found.as_dict(), allow_nan=False)


def test_undefined_beyond_estimates():
    """Results that are no estimates say why in a field of their own, or are empty."""
    assert fit_dawid_skene(APART).reason == remark("no_pairs")
    assert sweep([], []).reason == remark("no_units")
    assert isinstance(fitted := fit_calibrator("platt", [1, 1], [True, False]), NotFitted)
    assert fitted.reason == remark("equal_scores")
    assert isinstance(cross_fit("threshold", [1, 2], [0, 1], [1, 2], rng=np.random.default_rng(1)), NotFitted)
    consensus = consensus_labels(APART)
    assert (consensus.label.tolist(), consensus.ties) == ([0, 1], 0)
    tied = two([1, 1], [2, 1])
    assert (reference_majority(tied, [2]).ties, reference_majority(tied, [2]).positive.tolist()) == (1, [False])
    assert consensus_labels(tied).ties == 1
    assert prevalence(BARE) == []
    with pytest.raises(ValueError, match="a mean needs ordered levels that are numbers"):
        mean_value(WORDS)


#: Public functions that are always defined, or that say otherwise in no estimate (test_undefined_beyond_estimates, or
#: their own tests: no plan, nothing that labels could be worth, no influences).
NO_ESTIMATE = {
    "allocate", "benjamini_yekutieli", "clusters_needed", "consensus_labels", "cross_fit",
    "cross_fit_on", "decision_on", "dev_test_split", "distance_steps", "draw",
    "expected_spread", "fit_calibrator", "fit_dawid_skene", "folds", "guessed_spread", "holm", "interval_caveat",
    "judge_views", "kappa_influence", "level_of_look", "mean_value", "more_groups", "on_scale", "paradox_note",
    "plannable_from_estimate", "prevalence", "rarer_samples",
    "reference_majority", "rest_label", "rogan_gladen", "seeded", "strata", "sweep", "two_digits",
    "why_unidentified", "widening", "worth",
}  # fmt: skip
#: Metrics of one sample know neither clusters nor intervals. Their own tests hold bounds, order and undefined cases;
#: here is their mean.
OF_ONE_SAMPLE = {
    "context_entity_recall", "context_precision", "context_recall", "faithfulness", "ndcg_at_k", "noise_sensitivity",
    "precision_at_k", "recall_at_k", "reciprocal_rank", "retrieved_precision",
}  # fmt: skip
#: Of versions and questions, not of units and raters. Their own tests hold all of this (tests/alignment/comparing).
OF_SYSTEMS = {
    "band_of", "compare_measured", "compare_versions", "comparison_level", "conclude", "difference_sequence",
    "experiment_figures",
    "labels_needed", "overall_verdict", "preference_figures", "sliced_figures",
}  # fmt: skip
#: Of candidates for a judge, of judges in a row, and of answers to what was changed. Their own tests hold all of this
#: (tests/alignment/aligning, comparing/test_probes.py).
OF_ALIGNING = {"cascade_family", "certified_cascades", "choose", "probe_effect", "select"}
#: Their own tests hold what is above: order of arrival matters to the one, others need a region or another figure, are
#: a proportion as any other, or are of groups or rankings.
ELSEWHERE = {"anchoring", "clustered_share", "retrieval_figures", "watch_drift"}


def test_every_statistic_is_here():
    functions = {name for name in alignment.__all__ if name.islower() and callable(getattr(alignment, name))}
    assert set(UNDEFINED) == functions - NO_ESTIMATE - OF_ONE_SAMPLE - OF_SYSTEMS - OF_ALIGNING
    assert set(EVERY) == set(UNDEFINED) - ELSEWHERE
    assert functions >= NO_ESTIMATE | OF_ONE_SAMPLE | OF_SYSTEMS | OF_ALIGNING
