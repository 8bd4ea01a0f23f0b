"""Judges against people sample by sample: against loops over the metrics of single samples, scikit-learn and SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import average_precision_score, ndcg_score

from alignment import (
    context_precision,
    faithfulness,
    mean_over_samples,
    ndcg_at_k,
    precision_at_k,
    reciprocal_rank,
    retrieved_precision,
)
from alignment.base.caveats import FEW_SAMPLES
from alignment.base.estimate import remark
from alignment.report import (
    Criterion,
    Evidence,
    JudgeScores,
    Option,
    compare,
    evidence_as_dict,
    evidence_from_dict,
    reference_of,
)
from alignment.report.per_sample import K, per_sample_figures

GRADES = (0, 1, 2, 3)
RELEVANCE = Criterion(
    "relevance", 1, "R", "context", "ordinal", "How?", tuple(Option(g, str(g)) for g in GRADES), (2, 3)
)
SUPPORT = Criterion("support", 1, "S", "claim", "binary", "Is it?", (Option(False, "no"), Option(True, "yes")), (True,))
SIZES = {f"s{place:03}": 1 + place % 8 for place in range(240)}


def evidence(criterion, **fields):
    """One rater on every unit but some; a judge that is often right, one that misses units, one that answers labels."""
    rng = np.random.default_rng(4)
    units = [(sample, f"{criterion.unit}:{rank}") for sample, size in SIZES.items() for rank in range(size)]
    levels = criterion.levels
    truth = {unit: levels[rng.integers(len(levels))] for unit in units}
    labelled = [unit for unit in units if rng.random() < 0.97]
    near = {unit: float(np.clip((value + rng.normal(0, 0.7)) / max(levels), 0, 1)) for unit, value in truth.items()}
    patchy = {unit: score for unit, score in near.items() if rng.random() < 0.9}
    words = {unit: value if rng.random() < 0.8 else levels[0] for unit, value in truth.items()}
    given = {
        "criterion": criterion,
        "seed": 8,
        "units": labelled,
        "raters": ["ann"] * len(labelled),
        "values": [truth[unit] for unit in labelled],
        # Some verdicts say otherwise than the label.
        "verdicts": dict.fromkeys(labelled[::17], levels[-1]),
        "judges": [
            JudgeScores("near", "1", criterion.key, True, near),
            JudgeScores("patchy", "1", criterion.key, True, patchy),
            JudgeScores("words", "1", criterion.key, True, labels=words),
        ],
        "is_dev": {sample: place % 2 == 0 for place, sample in enumerate(SIZES)},
        "sizes": SIZES,
    }
    return Evidence(**{**given, **fields})


def figures(found):
    reference = reference_of(found)
    comparisons = [compare(reference, judge) for judge in found.judges]
    return reference, comparisons, per_sample_figures(reference, comparisons, [one.said.judge for one in comparisons])


def looped(unit, values, metric, depth=None):
    """The metric of every sample whose units are all there, one at a time."""
    found = {}
    for sample, size in SIZES.items():
        addresses = [(sample, f"{unit}:{rank}") for rank in range(size if depth is None else min(depth, size))]
        if all(address in values for address in addresses):
            found[sample] = metric([values[address] for address in addresses])
    return found


def check(row, people, judge):
    both = sorted(people.keys() & judge.keys())
    # Rounded, since a rank takes the last digit of a figure seriously.
    human, said = ([round(side[sample].value, 12) for sample in both] for side in (people, judge))
    assert row["people"]["n"] == len(both) > 40
    for name, side in (("people", people), ("judge", judge)):
        mean = mean_over_samples([side[sample] for sample in both], both, rng=np.random.default_rng(1))
        assert [row[name][part] for part in ("value", "low", "high")] == pytest.approx(
            [mean.value, mean.low, mean.high]
        )
    apart = np.subtract(said, human)
    error = apart.std() / np.sqrt(len(both))
    assert row["difference"]["value"] == pytest.approx(apart.mean())
    assert (row["difference"]["high"] - row["difference"]["low"]) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert row["pearson"]["value"] == pytest.approx(pearsonr(said, human).statistic)
    assert row["spearman"]["value"] == pytest.approx(spearmanr(said, human).statistic)
    assert row["pearson"]["low"] < row["pearson"]["value"] < row["pearson"]["high"]


@pytest.mark.parametrize(
    ("key", "metric", "depth"),
    [
        ("context_precision", context_precision, None),
        ("precision_at_k", lambda hits: precision_at_k(hits, K), K),
        ("retrieved_precision", retrieved_precision, None),
        ("reciprocal_rank", reciprocal_rank, None),
    ],
)
def test_rankings_against_a_loop_over_samples(key, metric, depth):
    reference, comparisons, result = figures(evidence(RELEVANCE))
    (found,) = [found for found in result["metrics"] if found["key"] == key]
    people = looped("context", reference.positive, metric, depth)
    begun = {sample for sample, _ in reference.units}
    assert (found["people"]["n"], found["left_out"]) == (len(people), len(begun) - len(people))
    assert found["left_out"] > 0
    for row, one in zip(found["judges"], comparisons, strict=True):
        assert row["on_dev"]
        assert all(reference.evidence.is_dev[sample] for sample, _ in one.decisions)
        check(row, people, looped("context", one.decisions, metric, depth))


def test_precision_at_k_takes_samples_whose_first_k_contexts_are_known():
    _, _, result = figures(evidence(RELEVANCE))
    left_out = {found["key"]: found["left_out"] for found in result["metrics"]}
    assert left_out["precision_at_k"] < left_out["context_precision"] == left_out["reciprocal_rank"]


def test_ndcg_is_of_grades_on_all_samples():
    reference, comparisons, result = figures(evidence(RELEVANCE))
    (found,) = [found for found in result["metrics"] if found["key"] == "ndcg_at_k"]
    grades = {**reference.mean, **reference.evidence.verdicts}
    people = looped("context", grades, lambda row: ndcg_at_k(row, K))
    for row, one in zip(found["judges"], comparisons, strict=True):
        # On which scale the judge's scores are doesn't matter: nDCG is a ratio.
        judge = looped("context", one.scores, lambda row: ndcg_at_k(row, K))
        assert not row["on_dev"]
        check(row, people, judge)
    several = {sample: [grades[sample, f"context:{rank}"] for rank in range(SIZES[sample])] for sample in people}
    expected = [
        ndcg_score([row], [-np.arange(len(row))], k=K) if any(row) else 0.0 for row in several.values() if len(row) > 1
    ] + [float(row[0] > 0) for row in several.values() if len(row) == 1]
    assert found["people"]["value"] == pytest.approx(np.mean(expected))


def test_context_precision_of_people_is_scikit_learns():
    reference, _, result = figures(evidence(RELEVANCE))
    rows = looped("context", reference.positive, list).values()
    expected = [average_precision_score(row, -np.arange(len(row))) if any(row) else 0.0 for row in rows]
    assert result["metrics"][0]["people"]["value"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("unit", "key"), [("claim", "faithfulness"), ("fact", "context_recall"), ("entity", "context_entity_recall")]
)
def test_shares_against_a_loop_over_samples(unit, key):
    reference, comparisons, result = figures(evidence(replace(SUPPORT, unit=unit)))
    (found,) = result["metrics"]
    assert (result["unit"], found["key"]) == (unit, key)
    people = looped(unit, reference.positive, faithfulness)
    for row, one in zip(found["judges"], comparisons, strict=True):
        check(row, people, looped(unit, one.decisions, faithfulness))


def whole(name, scores, dimension="faithfulness", *, higher=True):
    return JudgeScores(name, "2", dimension, higher, {(sample, "answer"): score for sample, score in scores.items()})


def test_judges_of_whole_samples_stand_on_all_samples_as_they_are():
    rng = np.random.default_rng(2)
    shares = {sample: float(score) for sample, score in zip(SIZES, rng.random(len(SIZES)), strict=True)}
    grades = {sample: 5 * score for sample, score in shares.items()}
    given = [
        whole("shares", shares),
        whole("fives", grades, "support"),
        whole("lower", shares, higher=False),
        whole("elsewhere", {"another": 0.5}),
        whole("ranker", shares, "mrr"),
    ]
    found = evidence(SUPPORT, judges=[], whole=given, measures={"faithfulness": "faithfulness", "mrr": "other"})
    reference, _, result = figures(found)
    people = looped("claim", reference.positive, faithfulness)
    rows = result["metrics"][0]["judges"]
    assert [row["title"] for row in rows] == ["shares 2", "fives 2", "lower 2", "elsewhere 2"]
    assert all(row["whole"] and not row["on_dev"] for row in rows)
    both = sorted(people)
    human = [people[sample].value for sample in both]
    assert {reference.evidence.is_dev[sample] for sample in both} == {True, False}
    for row, scores in zip(rows, (shares, grades, shares), strict=False):
        said = [scores[sample] for sample in both]
        assert row["people"]["n"] == len(both)
        assert row["pearson"]["value"] == pytest.approx(pearsonr(said, human).statistic)
        assert row["spearman"]["value"] == pytest.approx(spearmanr(said, human).statistic)
    assert rows[0]["difference"]["value"] == pytest.approx(np.mean([shares[s] for s in both]) - np.mean(human))
    assert [row["difference"]["reason"] for row in rows] == [
        None,
        remark("scores_no_shares"),
        remark("lower_is_better"),
        remark("no_sample_scored"),
    ]
    # As a report keeps it, with everything that it needs.
    assert figures(evidence_from_dict(evidence_as_dict(found)))[2] == result


def test_what_cannot_be_counted_says_why():
    assert (
        figures(evidence(replace(SUPPORT, unit="answer"), judges=[], units=[], raters=[], values=[], verdicts={}))[2]
        is None
    )
    unread = figures(evidence(replace(SUPPORT, passes=()), judges=[]))[2]["metrics"][0]
    assert unread["reason"] == remark("no_passes")
    assert unread["people"]["value"] is None
    incomplete = evidence(SUPPORT)
    incomplete = replace(incomplete, sizes={sample: size + 1 for sample, size in SIZES.items()})
    assert figures(incomplete)[2]["metrics"][0]["reason"] == remark("no_whole_sample")
    named = replace(RELEVANCE, scale="nominal", options=(Option("a", "a"), Option("b", "b")), passes=("a",))
    kinds = evidence(RELEVANCE, judges=[])
    kinds = replace(kinds, criterion=named, values=["a"] * len(kinds.values), verdicts={})
    assert figures(kinds)[2]["metrics"][-1]["reason"] == remark("no_grades")
    mute = JudgeScores("mute", "1", "support", True, {})
    row = figures(evidence(SUPPORT, judges=[mute]))[2]["metrics"][0]["judges"][0]
    assert row["people"]["reason"] == remark("no_scores")


def test_few_samples_have_a_caveat():
    few = evidence(SUPPORT)
    kept = [unit for unit in few.units if unit[0] < "s030"]
    few = replace(few, units=kept, raters=["ann"] * len(kept), values=few.values[: len(kept)], verdicts={})
    assert figures(few)[2]["metrics"][0]["caveat"] == FEW_SAMPLES
    assert figures(evidence(SUPPORT))[2]["metrics"][0]["caveat"] is None


def test_claims_that_are_gone_leave_no_hole():
    found = evidence(SUPPORT, judges=[])
    expected = figures(found)[2]["metrics"][0]
    # The same, where every sample of several had another second claim once.
    moved = {unit: (unit[0], f"claim:{int(unit[1][6:]) + 1}") for unit in found.units if unit[1] != "claim:0"}
    dropped = {sample: [1] for sample, size in SIZES.items() if size > 1}
    holed = replace(
        found,
        units=[moved.get(unit, unit) for unit in found.units],
        verdicts={moved.get(unit, unit): value for unit, value in found.verdicts.items()},
        dropped=dropped,
    )
    metric = figures(holed)[2]["metrics"][0]
    assert (metric["people"]["value"], metric["left_out"]) == (expected["people"]["value"], expected["left_out"])
    assert figures(evidence_from_dict(evidence_as_dict(holed)))[2]["metrics"][0] == metric
