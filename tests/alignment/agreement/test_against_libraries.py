"""The same figures from scikit-learn, scipy and statsmodels, on random tables with gaps."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss
from statsmodels.stats.proportion import proportion_confint

from alignment import (
    Ratings,
    at_threshold,
    cohen_kappa,
    fleiss_kappa,
    kendall,
    mean_value,
    pairwise,
    pearson,
    prevalence,
    roc_auc,
    spearman,
    sweep,
)
from alignment.base.estimate import remark
from alignment.base.interval import exact_share

SEEDS = range(6)


def close(value):
    return pytest.approx(value, abs=1e-10)


def scores_and_verdicts(seed, units=300):
    """Rounded scores, so that many tie."""
    rng = np.random.default_rng(seed)
    positive = rng.random(units) < (0.15 if seed % 2 else 0.5)
    return np.round(rng.normal(positive * 0.8, 1.0), 1), positive


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_kappa(with_gaps, seed, weights):
    ratings = with_gaps(seed)
    for pair in pairwise(ratings, interval="none"):
        values = {
            name: dict(zip(one.unit, one.value, strict=True))
            for name, one in ((name, ratings.select_raters([name])) for name in (pair.a, pair.b))
        }
        common = sorted(set(values[pair.a]) & set(values[pair.b]))
        expected = metrics.cohen_kappa_score(
            [values[pair.a][unit] for unit in common],
            [values[pair.b][unit] for unit in common],
            labels=range(4),
            weights=weights,
        )
        of_pair = {None: pair.kappa, "linear": pair.linear, "quadratic": pair.quadratic}[weights]
        assert of_pair.value == close(expected)
        assert cohen_kappa(ratings, pair.a, pair.b, weights, interval="none") == of_pair
        assert pair.n == len(common)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_error_is_that_of_fleiss_cohen_and_everitt(from_confusion, seed, weights):
    table = np.random.default_rng(seed).multinomial(120, [0.3, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05, 0.05, 0.2])
    ratings = from_confusion(table.reshape(3, 3))
    estimate = cohen_kappa(ratings, "a", "b", weights, interval="influence")
    expected = cohens_kappa(table.reshape(3, 3), wt=weights)
    assert estimate.value == close(expected.kappa)
    error = (estimate.high - estimate.value) / stats.t.ppf(0.975, 119)
    assert error == close(expected.std_kappa)
    assert "influence functions by cluster, t with 119 df" in estimate.method


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa_without_gaps(seed):
    counts = np.random.default_rng(seed).multinomial(7, [0.5, 0.2, 0.2, 0.1], size=40)
    values = np.concatenate([np.repeat(np.arange(4), row) for row in counts])
    unit = np.repeat(np.arange(40), 7)
    ratings = Ratings(unit, np.tile(np.arange(7), 40), values, unit, ("p", "q", "r", "s"), "nominal", tuple("abcdefg"))
    assert fleiss_kappa(ratings, interval="none").value == close(statsmodels_fleiss(counts))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_threshold_figures(seed, higher_is_better):
    score, positive = scores_and_verdicts(seed)
    judge = score >= 0.4 if higher_is_better else score <= 0.4
    result = at_threshold(score, positive, np.arange(300), 0.4, higher_is_better=higher_is_better, interval="none")
    assert result.confusion == metrics.confusion_matrix(positive, judge).tolist()
    assert result.kappa.value == close(metrics.cohen_kappa_score(positive, judge))
    assert result.f1.value == close(metrics.f1_score(positive, judge))
    assert result.precision.value == close(metrics.precision_score(positive, judge))
    assert result.tpr.value == close(metrics.recall_score(positive, judge))
    assert result.tnr.value == close(metrics.recall_score(~positive, ~judge))
    assert result.accuracy.value == close(metrics.accuracy_score(positive, judge))
    assert result.mcc.value == close(metrics.matthews_corrcoef(positive, judge))


@pytest.mark.parametrize("seed", SEEDS)
def test_sweep_is_the_threshold_figures_at_every_score(seed):
    score, positive = scores_and_verdicts(seed, units=120)
    for higher_is_better in (True, False):
        swept = sweep(score, positive, higher_is_better=higher_is_better)
        assert swept.thresholds.tolist() == sorted(set(score))
        for index, threshold in enumerate(swept.thresholds):
            result = at_threshold(
                score, positive, np.arange(120), threshold, higher_is_better=higher_is_better, interval="none"
            )
            for name in ("kappa", "tpr", "tnr", "precision", "f1", "accuracy", "mcc"):
                value, swept_value = getattr(result, name).value, getattr(swept, name)[index]
                assert np.isnan(swept_value) if value is None else swept_value == close(value)
            assert result.confusion == [
                [swept.tn[index], swept.fp[index]],
                [swept.fn[index], swept.tp[index]],
            ]
        assert swept.best_kappa == np.nanmax(swept.kappa)
        assert swept.best_threshold == swept.thresholds[np.flatnonzero(swept.kappa >= swept.best_kappa - 1e-12)[0]]


@pytest.mark.parametrize("seed", SEEDS)
def test_roc_auc(seed):
    score, positive = scores_and_verdicts(seed)
    expected = metrics.roc_auc_score(positive, score)
    assert roc_auc(score, positive, np.arange(300), interval="none").value == close(expected)
    lower = roc_auc(score, positive, np.arange(300), higher_is_better=False, interval="none")
    assert lower.value == close(1 - expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations(seed):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 5, size=257).astype(float)
    score = np.round(human + rng.normal(0, 2, size=257), 1)
    cluster = np.arange(257)
    assert pearson(score, human, cluster, interval="none").value == close(stats.pearsonr(score, human).statistic)
    assert spearman(score, human, cluster, interval="none").value == close(stats.spearmanr(score, human).statistic)
    assert kendall(score, human, cluster, interval="none").value == close(stats.kendalltau(score, human).statistic)


def test_kendall_of_many_units_without_ties():
    rng = np.random.default_rng(8)
    x = rng.normal(size=20_000)
    y = x + rng.normal(size=20_000)
    estimate = kendall(x, y, np.arange(20_000) // 4, interval="influence")
    assert estimate.value == close(stats.kendalltau(x, y).statistic)
    # For a bivariate normal tau is 2/π · asin(r).
    assert estimate.low < 2 / np.pi * np.arcsin(np.sqrt(0.5)) < estimate.high


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (3, 12), (12, 12), (90, 100)])
def test_exact_shares(hits, n):
    assert exact_share(hits / n, n, 0.95) == close(proportion_confint(hits, n, method="beta"))


def test_prevalence_and_mean_value(with_gaps):
    ratings = with_gaps(3)
    values = np.array(ratings.levels)[ratings.value]
    assert [share.count for share in prevalence(ratings)] == [int((values == level).sum()) for level in (1, 2, 3, 4)]
    mean = mean_value(ratings)
    for unit, value in zip(mean.unit_ids, mean.value, strict=True):
        assert value == close(values[ratings.unit == unit].mean())


def test_where_scikit_learn_gives_nan_kappa_is_undefined(from_confusion):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(metrics.cohen_kappa_score([1, 1], [1, 1], labels=[0, 1]))
    estimate = cohen_kappa(from_confusion([[0, 0], [0, 2]]), "a", "b", interval="none")
    assert (estimate.value, estimate.reason) == (None, remark("one_category"))
