"""Influence functions against brute force, the bootstrap against influence, and how an interval is chosen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import rankdata, t

from alignment import (
    at_threshold,
    bland_altman,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    kendall,
    krippendorff_alpha,
    mean_pairwise_kappa,
    mean_pairwise_pi,
    pairwise,
    pearson,
    percent_agreement,
    pr_auc,
    roc_auc,
    scott_pi,
    spearman,
)
from alignment.base.estimate import remark
from alignment.base.interval import standard_error
from alignment.base.totals import Totals

AGREEMENT = {
    "percent agreement": percent_agreement,
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "alpha nominal": krippendorff_alpha,
    "alpha ordinal": lambda ratings, **how: krippendorff_alpha(ratings, "ordinal", **how),
    "alpha interval": lambda ratings, **how: krippendorff_alpha(ratings, "interval", **how),
    "alpha ratio": lambda ratings, **how: krippendorff_alpha(ratings, "ratio", **how),
    "ac2 linear": lambda ratings, **how: gwet_ac2(ratings, "linear", **how),
    "ac2 quadratic": lambda ratings, **how: gwet_ac2(ratings, "quadratic", **how),
    "brennan prediger": brennan_prediger,
    "scott": lambda ratings, **how: scott_pi(ratings, "rater 0", "rater 1", **how),
    "mean pi": mean_pairwise_pi,
    "cohen": lambda ratings, **how: cohen_kappa(ratings, "rater 0", "rater 1", **how),
    "cohen quadratic": lambda ratings, **how: cohen_kappa(ratings, "rater 0", "rater 1", "quadratic", **how),
    "mean kappa": mean_pairwise_kappa,
    "mean kappa by units": lambda ratings, **how: mean_pairwise_kappa(ratings, "linear", 10, True, **how),
}
JUDGED = {
    "roc auc": lambda score, positive, human, cluster, **how: roc_auc(score, positive, cluster, **how),
    "pr auc": lambda score, positive, human, cluster, **how: pr_auc(score, positive, cluster, **how),
    "bias": lambda score, positive, human, cluster, **how: bland_altman(score, human, cluster, **how).bias,
    "upper limit": lambda score, positive, human, cluster, **how: (
        bland_altman(score, human, cluster, **how).upper_limit
    ),
    "pearson": lambda score, positive, human, cluster, **how: pearson(score, human, cluster, **how),
    "spearman": lambda score, positive, human, cluster, **how: spearman(score, human, cluster, **how),
    "kendall": lambda score, positive, human, cluster, **how: kendall(score, human, cluster, **how),
} | {
    name: lambda score, positive, human, cluster, name=name, **how: getattr(
        at_threshold(score, positive, cluster, 0.5, **how), name
    )
    for name in ("kappa", "tpr", "tnr", "precision", "f1", "accuracy", "mcc")
}


def part_of(ratings, kept):
    return replace(
        ratings,
        unit=ratings.unit[kept],
        rater=ratings.rater[kept],
        value=ratings.value[kept],
        cluster=ratings.cluster[kept],
    )


def columns(units=600, per_cluster=3):
    rng = np.random.default_rng(17)
    human = np.repeat(rng.integers(0, 4, size=units // per_cluster), per_cluster) / 3
    score = np.round(human + rng.normal(0, 0.4, size=units), 1)
    cluster = np.arange(units) // per_cluster
    return score, (human + rng.normal(0, 0.2, size=units)) >= 0.6, human, cluster


def jackknife(values):
    values = np.array(values)
    return np.sqrt((values.size - 1) / values.size * np.square(values - values.mean()).sum())


def width(estimate):
    return estimate.high - estimate.low


@pytest.mark.parametrize("name", AGREEMENT)
def test_agreement_influence_against_deleting_each_cluster(with_gaps, name):
    ratings, statistic = with_gaps(7, units=600, per_cluster=3), AGREEMENT[name]
    left_out = [
        statistic(part_of(ratings, ratings.cluster != cluster), interval="none").value
        for cluster in np.unique(ratings.cluster)
    ]
    estimate = statistic(ratings, interval="influence")
    error = width(estimate) / 2 / 1.97
    assert error == pytest.approx(jackknife(left_out), rel=0.03)


@pytest.mark.parametrize("name", JUDGED)
def test_judge_influence_against_deleting_each_cluster(name):
    given, statistic = columns(), JUDGED[name]
    cluster = given[-1]
    left_out = [
        statistic(*(column[cluster != one] for column in given), interval="none").value for one in np.unique(cluster)
    ]
    error = width(statistic(*given, interval="influence")) / 2 / 1.97
    assert error == pytest.approx(jackknife(left_out), rel=0.03)


@pytest.mark.parametrize("name", [name for name in AGREEMENT if not name.startswith("mean")])
def test_agreement_bootstrap_against_influence(with_gaps, name, rng):
    ratings, statistic = with_gaps(7, units=600, per_cluster=3), AGREEMENT[name]
    by_influence, by_bootstrap = (statistic(ratings, interval=kind, rng=rng) for kind in ("influence", "bootstrap"))
    assert by_bootstrap.value == by_influence.value
    assert width(by_bootstrap) == pytest.approx(width(by_influence), rel=0.1)
    assert by_bootstrap.low == pytest.approx(by_influence.low, abs=0.1 * width(by_influence))


@pytest.mark.parametrize("name", JUDGED)
def test_judge_bootstrap_against_influence(name, rng):
    given, statistic = columns(), JUDGED[name]
    by_influence, by_bootstrap = (statistic(*given, interval=kind, rng=rng) for kind in ("influence", "bootstrap"))
    assert by_bootstrap.value == by_influence.value
    assert width(by_bootstrap) == pytest.approx(width(by_influence), rel=0.1)


@pytest.mark.parametrize("name", ["roc auc", "pr auc", "pearson", "spearman", "kendall"])
def test_weighted_resamples_are_the_statistic_of_copied_units(name, rng, monkeypatch):
    """One resample by hand: clusters drawn twice are copied, and the plain statistic of the copies compared."""
    given, statistic = columns(60, 3), JUDGED[name]
    seen = []

    def spy(resample, *_):
        weights = np.bincount(rng.integers(20, size=20), minlength=20)
        copies = np.repeat(np.arange(60), weights[given[-1]])
        copied = [column[copies] for column in given[:-1]]
        seen.append(statistic(*copied, np.arange(copies.size), interval="none").value)
        assert resample(weights[None].astype(float))[0] == pytest.approx(seen[0], abs=1e-10)
        return np.linspace(0, 1, 2000)

    for module in ("base.interval", "judging.auc"):
        monkeypatch.setattr(f"alignment.{module}.resampled", spy)
    statistic(*given, interval="bootstrap", rng=rng)
    assert seen


def test_spearman_influence_is_the_derivative_of_weighted_ranks():
    """A weight raised by a little, by brute force through the definition."""
    score, _, human, _ = columns(60, 1)
    n, step = score.size, 1e-6

    def rho(weights):
        below = [(c < c[:, None]) + 0.5 * (c == c[:, None]) for c in (score, human)]
        x, y = (kernel @ weights for kernel in below)
        x, y = (column - weights @ column / weights.sum() for column in (x, y))
        return weights @ (x * y) / np.sqrt((weights @ x**2) * (weights @ y**2))

    ones = np.ones(n)
    assert rho(ones) == pytest.approx(np.corrcoef(rankdata(score), rankdata(human))[0, 1])
    slopes = np.array([(rho(ones + step * unit) - rho(ones - step * unit)) / (2 * step) for unit in np.eye(n)])
    estimate = spearman(score, human, np.arange(n), interval="influence")
    assert (estimate.high - estimate.value) / 2.000995 == pytest.approx(standard_error(slopes), rel=1e-5)


def test_clusters_of_copies_are_worth_one_unit(from_rows, rng):
    """Five claims that repeat their answer's verdict carry no more than one claim."""
    a, b = rng.integers(0, 2, size=(2, 80))
    b = np.where(rng.random(80) < 0.6, a, b)
    single = from_rows([a, b], [0, 1], "binary")
    copies = np.repeat(np.arange(80), 5)
    copied = from_rows([a[copies], b[copies]], [0, 1], "binary", clusters=copies)
    one, five = (cohen_kappa(ratings, *ratings.raters, interval="influence") for ratings in (single, copied))
    assert (one.value, one.low, one.high) == pytest.approx((five.value, five.low, five.high))
    assert (five.n, five.clusters) == (400, 80)


@pytest.mark.parametrize("units", [60, 400])
def test_auto_is_the_jackknife_on_the_arctanh_scale(with_gaps, rng, units):
    """By hand: every group left out once, and t of the groups with anything but the commonest value less one."""
    ratings = with_gaps(3, units=units, per_cluster=2, raters=2)
    ratings = part_of(ratings, np.bincount(ratings.unit)[ratings.unit] > 1)
    estimate = krippendorff_alpha(ratings, rng=rng)
    left_out = [
        krippendorff_alpha(part_of(ratings, ratings.cluster != one), interval="none").value
        for one in np.unique(ratings.cluster)
    ]
    held = np.unique(ratings.cluster[ratings.value != np.bincount(ratings.value).argmax()]).size
    value = estimate.value
    half = t.ppf(0.975, held - 1) * jackknife(left_out) / (1 - value**2)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(np.tanh(np.arctanh(value) + np.array([-half, half]))))


def test_few_that_hold_the_rarer_value_have_no_interval(from_confusion, rng):
    few, enough = (cohen_kappa(from_confusion([[40, 1], [1, n]]), "a", "b", rng=rng) for n in (3, 4))
    assert (few.low, few.reason) == (None, remark("few_hold_the_rarer", n=5))
    assert enough.low < enough.value < enough.high


@pytest.mark.parametrize("statistic", [cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha])
def test_where_all_agree_there_is_a_lower_bound(from_confusion, rng, statistic):
    """As an exact share of none that disagree; and farther out at a later look."""
    ratings = from_confusion([[20, 0], [0, 20]])
    names = ("a", "b") if statistic is cohen_kappa else ()
    found, later = (statistic(ratings, *names, rng=rng, level=level) for level in (0.95, 0.999))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 40)), abs=0.01)
    assert later.low < found.low


@pytest.mark.parametrize("statistic", [cohen_kappa, fleiss_kappa, krippendorff_alpha, mean_pairwise_kappa])
def test_what_both_may_have_failed_and_was_not_seen_counts(from_confusion, rng, statistic):
    """Of 100 units that both fail none was seen, of as many as 3.6 %; of 1,000, of 0.4 %."""
    names = ("a", "b") if statistic is cohen_kappa else ()
    few, many = (statistic(from_confusion([[0, 7 * n], [10 * n, 83 * n]]), *names, rng=rng) for n in (1, 10))
    assert few.value == pytest.approx(many.value, abs=0.01)
    assert few.value < 0
    assert few.high == pytest.approx(0.26, abs=0.05)
    assert many.high < 0


def test_few_samples_of_which_nobody_fails_the_same_do_not_rule_out_agreement(from_confusion):
    """Of 30 samples one fails three and the other two, as may happen where alpha is .3."""
    found = krippendorff_alpha(from_confusion([[0, 3], [2, 25]]), interval="jackknife")
    assert found.high > 0.3


def test_one_pair_has_the_interval_that_it_has_among_many(from_confusion, rng):
    for table in ([[0, 7], [10, 83]], [[20, 0], [0, 20]], [[30, 3], [2, 30]]):
        ratings = from_confusion(table)
        pair, alone = pairwise(ratings, rng=rng)[0].kappa, cohen_kappa(ratings, "a", "b", rng=rng)
        assert (pair.low, pair.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_the_bootstrap_has_no_interval_above_99_percent(rng):
    score, _, human, cluster = columns(60, 3)
    found = spearman(score, human, cluster, interval="bootstrap", rng=rng, level=0.999)
    assert (found.low, found.reason) == (None, remark("beyond_resamples"))
    assert "influence" in spearman(score, human, cluster, rng=rng, level=0.999).method


def test_rates_are_exact_when_every_unit_is_its_own_cluster(rng):
    score, positive, _, cluster = columns()
    single = at_threshold(score, positive, np.arange(600), 0.5, rng=rng)
    for rate in (single.tpr, single.tnr, single.precision, single.accuracy):
        assert rate.method.endswith(f"Clopper-Pearson, of {rate.n} effective trials")
    clustered = at_threshold(score, positive, cluster, 0.5, rng=rng)
    assert clustered.tpr.n == single.tpr.n == int(positive.sum())
    assert clustered.tpr.value == single.tpr.value


@pytest.mark.parametrize("clusters", [10, 200])
def test_auc_is_on_the_logit_scale(rng, clusters):
    """By hand from the plain interval: the half-width divided by p(1 - p), added to log(p/(1 - p))."""
    score, positive, _, cluster = columns(5 * clusters, 5)
    plain, found = (
        {"auc": roc_auc(score, positive, cluster, interval=kind, rng=rng)}
        for kind in ("influence", "auto")
    )  # fmt: skip
    for name, estimate in found.items():
        value = estimate.value
        half = (value - plain[name].low) / (value * (1 - value))
        assert estimate.method.endswith(f"on the logit scale, t with {clusters - 1} df")
        assert (estimate.low, estimate.high) == pytest.approx(tuple(expit(logit(value) + np.array([-half, half]))))


def test_a_perfect_clustered_rate_takes_each_cluster_for_one_trial(rng):
    positive = np.repeat([True, False], 50)
    result = at_threshold(positive.astype(float), positive, np.arange(100) // 5, 0.5, rng=rng)
    assert (result.tpr.value, result.tpr.high, result.tpr.n, result.tpr.clusters) == (1.0, 1.0, 50, 10)
    assert result.tpr.low == pytest.approx(0.025 ** (1 / 10))


def test_percent_agreement_of_two_raters_is_a_proportion(from_confusion, rng):
    estimate = percent_agreement(from_confusion([[40, 5], [3, 12]]), rng=rng)
    assert estimate.method.endswith("Clopper-Pearson, of 60 effective trials")


@pytest.mark.parametrize("kind", ["influence", "bootstrap"])
def test_no_interval_of_width_zero(from_confusion, rng, kind):
    perfect = cohen_kappa(from_confusion([[40, 0], [0, 40]]), "a", "b", interval=kind, rng=rng)
    constant = cohen_kappa(from_confusion([[0, 0], [40, 40]]), "a", "b", interval=kind, rng=rng)
    for estimate, value in ((perfect, 1.0), (constant, 0.0)):
        assert (estimate.value, estimate.low, estimate.high) == (value, None, None)
        assert estimate.reason == remark("no_variation")


def test_undefined_resamples_are_counted(from_confusion, rng):
    rare = cohen_kappa(from_confusion([[18, 0], [1, 1]]), "a", "b", interval="bootstrap", rng=rng)
    assert rare.method.endswith("undefined left out")
    assert rare.low is not None


def test_an_interval_stays_within_its_bounds(from_confusion):
    estimate = cohen_kappa(from_confusion([[3, 0], [1, 3]]), "a", "b", interval="influence")
    assert estimate.high == 1.0


def test_the_level_widens(with_gaps):
    ratings = with_gaps(3)
    narrow, wide = (fleiss_kappa(ratings, interval="influence", level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.8, 0.99)


def test_the_bootstrap_works_in_blocks(monkeypatch):
    score, _, human, cluster = columns(60, 3)
    whole = kendall(score, human, cluster, rng=np.random.default_rng(1))
    monkeypatch.setattr("alignment.base.bootstrap.FLOATS_AT_ONCE", 6000)
    monkeypatch.setattr("alignment.judging.correlation.SIGNS_AT_ONCE", 600)
    parts = kendall(score, human, cluster, rng=np.random.default_rng(1))
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=0.02)


def test_gradients_in_blocks(monkeypatch, with_gaps):
    ratings = with_gaps(3)
    whole = krippendorff_alpha(ratings, "ordinal", interval="influence")
    monkeypatch.setattr("alignment.base.totals.CELLS_AT_ONCE", 40)
    parts = krippendorff_alpha(ratings, "ordinal", interval="influence")
    assert parts.low == pytest.approx(whole.low, abs=1e-14)


def test_the_complex_step_is_the_derivative():
    totals = Totals.of(np.array([7, 7, 9]), np.array([0, 1, 1]), np.array([2.0, 1.0, 3.0]), 2)
    assert totals.influence(lambda sums: sums[..., 0] / sums[..., 1]) == pytest.approx([2 / 4 - 2 / 16, -6 / 16])
    assert totals.sums().tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "pass rng"),
        ({"interval": "bootstrap"}, "pass rng"),
        ({"interval": "exact"}, "auto, jackknife, influence, bootstrap, none"),
        ({"interval": "none", "level": 95}, "between 0 and 1"),
    ],
)
def test_a_plan_that_cannot_be(with_gaps, asked, message):
    with pytest.raises(ValueError, match=message):
        fleiss_kappa(with_gaps(1), **asked)
