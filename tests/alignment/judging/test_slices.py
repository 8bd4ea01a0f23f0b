"""Slices: their figures are those of their units, differences follow, and p-values keep what they promise."""

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit
from statsmodels.stats.multitest import multipletests

from alignment import at_threshold, slices_at_threshold
from alignment.base.estimate import remark

NONE, INFLUENCE = {"interval": "none"}, {"interval": "influence"}
MEASURES = ("kappa", "tpr", "tnr", "accuracy")


def columns(seed=1, units=400, per_cluster=2, right=(0.9, 0.9, 0.6)):
    """A judge who is right as often as given on three languages, in clusters of one language."""
    rng = np.random.default_rng(seed)
    cluster = np.arange(units) // per_cluster
    language = cluster % 3
    positive = rng.random(units) < 0.6
    judge = np.where(rng.random(units) < np.array(right)[language], positive, ~positive)
    return judge.astype(float), positive, cluster, np.array(["de", "en", "fr"])[language].tolist()


def test_figures_are_those_of_the_slices_units():
    score, positive, cluster, language = columns()
    found = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **INFLUENCE)
    assert [(part.key, part.value) for part in found] == [("language", each) for each in ("de", "en", "fr")]
    for part in found:
        here = np.array(language) == part.value
        own = at_threshold(score[here], positive[here], cluster[here], 0.5, **INFLUENCE)
        rest = at_threshold(score[~here], positive[~here], cluster[~here], 0.5, **INFLUENCE)
        assert (part.n, part.clusters) == (here.sum(), np.unique(cluster[here]).size)
        for measure in MEASURES:
            assert getattr(part.result, measure) == getattr(own, measure)
            assert getattr(part, measure).value == pytest.approx(
                getattr(own, measure).value - getattr(rest, measure).value
            )


@pytest.mark.parametrize("measure", MEASURES)
def test_parts_without_common_clusters_vary_apart(measure):
    score, positive, cluster, language = columns()
    part = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **INFLUENCE)[2]
    here = np.array(language) == "fr"
    variance, clusters = 0.0, []
    for kept in (here, ~here):
        one = getattr(at_threshold(score[kept], positive[kept], cluster[kept], 0.5, **INFLUENCE), measure)
        variance += ((one.high - one.low) / 2 / stdtrit(one.clusters - 1, 0.975)) ** 2
        clusters.append(one.clusters)
    difference = getattr(part, measure)
    assert difference.clusters == min(clusters)
    half = stdtrit(min(clusters) - 1, 0.975) * np.sqrt(variance)
    assert (difference.high - difference.low) / 2 == pytest.approx(half, rel=1e-6)


def test_the_slice_where_the_judge_is_worse():
    score, positive, cluster, language = columns()
    found = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **INFLUENCE)
    assert [part.worse for part in found] == [False, False, True]


def test_holm_over_all_keys():
    score, positive, cluster, language = columns(right=(0.85, 0.85, 0.7))
    odd = ["odd" if each % 2 else "even" for each in cluster]
    found = slices_at_threshold(
        score, positive, cluster, 0.5, {"language": language, "number": odd}, measure="accuracy", **INFLUENCE
    )
    assert [(part.key, part.value) for part in found[3:]] == [("number", "even"), ("number", "odd")]
    adjusted = multipletests([part.p for part in found], method="holm")[1]
    assert [part.p_adjusted for part in found] == pytest.approx(adjusted)
    for part in found:
        assert part.worse is bool(part.accuracy.value < 0 and part.p_adjusted <= 0.05)
    assert found[3].p == pytest.approx(found[4].p)
    assert found[3].accuracy.value == pytest.approx(-found[4].accuracy.value)


def test_a_slice_that_does_not_vary_borrows_the_error_of_all_data():
    """All twelve passed in the slice, 80 % of the rest: the slice's own error is nil, its p must not rest on that."""
    score = np.concatenate([np.ones(12), np.repeat([1.0, 0.0], [128, 32])])
    part = ["here"] * 12 + ["there"] * 160
    found = slices_at_threshold(score, np.ones(172, bool), range(172), 0.5, {"part": part}, measure="tpr", **INFLUENCE)[
        0
    ]
    own = (found.tpr.high - found.tpr.low) / 2 / stdtrit(11, 0.975)
    assert found.tpr.value / own == pytest.approx(0.2 / np.sqrt(0.8 * 0.2 / 160), rel=1e-3)
    # Around the pooled TPR of 140/172 each of the twelve is off by 32/172, each of the rest by one or the other.
    pooled = 140 / 172
    influence = np.concatenate([np.full(12, (1 - pooled) / 12), (pooled - score[12:]) / 160])
    error = np.sqrt(np.square(influence - influence.mean()).sum())
    assert error > own
    assert found.p == pytest.approx(2 * stdtr(11, -found.tpr.value / error))


@pytest.mark.parametrize("per_cluster", [1, 4])
def test_false_alarms(per_cluster):
    """With a judge equally good everywhere, an unadjusted p ≤ .05 on the worse side comes in at most about 2.5 %."""
    alarms = tested = 0
    for seed in range(150):
        score, positive, cluster, language = columns(seed, 240, per_cluster, right=(0.85, 0.85, 0.85))
        for part in slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **NONE):
            tested += 1
            alarms += part.p <= 0.05 and part.kappa.value < 0
    assert tested == 450
    assert alarms / tested < 0.045


def test_lower_is_better():
    score, positive, cluster, language = columns()
    up = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **NONE)
    down = slices_at_threshold(-score, positive, cluster, -0.5, {"language": language}, higher_is_better=False, **NONE)
    assert [part.p for part in down] == [part.p for part in up]


def test_missing_metadata_belong_to_the_rest_only():
    score, positive, cluster, language = columns()
    gaps = [None if each == "en" else each for each in language]
    found = slices_at_threshold(score, positive, cluster, 0.5, {"language": gaps}, **NONE)
    assert [part.value for part in found] == ["de", "fr"]
    full = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, **NONE)
    assert found[0].kappa == full[0].kappa


def test_too_small():
    score, positive, cluster, _ = columns(units=60, per_cluster=2)
    few = ["rare" if each < 9 else "usual" for each in cluster]
    rare, usual = slices_at_threshold(score, positive, cluster, 0.5, {"kind": few}, **NONE)
    assert rare.reason == rare.kappa.reason == rare.accuracy.reason == remark("few_samples_in_slice", n=10)
    assert usual.reason == usual.tpr.reason == remark("few_samples_outside_slice", n=10)
    assert (rare.result, rare.p, rare.p_adjusted, rare.worse) == (None, None, None, None)
    (everything,) = slices_at_threshold(score, positive, cluster, 0.5, {"kind": ["all"] * 60}, **NONE)
    assert everything.reason == remark("few_samples_outside_slice", n=10)


def test_too_few_of_a_verdict():
    positive = np.array([True] * 4 + [False] * 26 + [True, False] * 20)
    slices = ["here"] * 30 + ["there"] * 40
    score = positive.astype(float)
    score[::7] = 1 - score[::7]
    here = slices_at_threshold(score, positive, range(70), 0.5, {"part": slices}, **NONE)[0]
    assert here.kappa.reason == remark("few_passed_in_slice", n=5)
    assert here.tpr.reason == remark("few_passed_in_slice", n=10)
    assert here.tnr.value is not None
    assert here.accuracy.value is not None
    assert here.result.kappa.value is not None
    assert (here.p, here.worse, here.reason) == (None, None, None)


def test_a_judge_right_everywhere_is_not_tested():
    _, positive, cluster, language = columns()
    found = slices_at_threshold(positive.astype(float), positive, cluster, 0.5, {"language": language}, **INFLUENCE)
    assert {(part.kappa.value, part.p, part.worse) for part in found} == {(0.0, None, None)}


def test_no_unit_passes():
    found = slices_at_threshold(
        [0.0, 1.0] * 20, [False] * 40, range(40), 0.5, {"part": ["a", "a", "b", "b"] * 10}, measure="accuracy", **NONE
    )
    assert found[0].tpr.reason == remark("few_passed_in_slice", n=10)
    assert (found[0].accuracy.value, found[0].p) == (0.0, pytest.approx(1.0))


def test_few_clusters_have_an_interval_of_the_slice_itself(rng):
    score, positive, cluster, language = columns(units=160, per_cluster=4)
    part = slices_at_threshold(score, positive, cluster, 0.5, {"language": language}, rng=rng)[0]
    assert "jackknife" in part.result.kappa.method
    assert "influence" in part.kappa.method


@pytest.mark.parametrize(
    ("asked", "message"),
    [({"measure": "f1"}, "kappa, tpr, tnr, accuracy"), ({"metadata": {"part": ["a"]}}, "columns differ in length")],
)
def test_nonsense(asked, message):
    with pytest.raises(ValueError, match=message):
        slices_at_threshold([0, 1], [0, 1], [1, 2], 0.5, **{"metadata": {"part": "ab"}} | asked, **NONE)
