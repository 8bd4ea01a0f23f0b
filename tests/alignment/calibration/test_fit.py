"""Fitting calibrators: against scikit-learn and brute force, refusals, cross-fitting."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from alignment import (
    CrossFit,
    CutpointCalibrator,
    NotFitted,
    cross_fit,
    fit_calibrator,
    reference_majority,
    sweep,
)
from alignment.base.estimate import remark

SEEDS = range(4)
BINARY = ("threshold", "platt", "isotonic")
METHODS = (*BINARY, "cutpoints")


def judged(seed, units=300, digits=1):
    """Rounded scores, so that many tie, and people's verdicts."""
    rng = np.random.default_rng(seed)
    human = rng.random(units) < (0.2 if seed % 2 else 0.5)
    return np.round(rng.normal(human * 1.2, 1.0), digits), human


def graded(seed, units=60, levels=4):
    rng = np.random.default_rng(seed)
    human = rng.integers(levels, size=units)
    return np.round(human + rng.normal(0, 1.0, size=units), 0), human


def fit(method, score, human, **how):
    return fit_calibrator(method, score, human, levels=2, **how)


@pytest.mark.parametrize("seed", SEEDS)
def test_platt_is_logistic_regression_on_platts_targets(seed):
    score, human = judged(seed)
    high, low = (human.sum() + 1) / (human.sum() + 2), 1 / ((~human).sum() + 2)
    target = np.where(human, high, low)
    # Every unit once as a pass and once as a fail, weighted by its target.
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000)
    model.fit(np.tile(score, 2)[:, None], np.repeat([1, 0], score.size), np.concatenate([target, 1 - target]))
    ours = fit("platt", score, human).probability(score)
    assert ours == pytest.approx(model.predict_proba(score[:, None])[:, 1], abs=1e-6)


def test_platt_of_many_units_is_plain_logistic_regression():
    score, human = judged(0, 20_000, 3)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(score[:, None], human)
    ours = fit("platt", score, human).probability(score)
    assert ours == pytest.approx(model.predict_proba(score[:, None])[:, 1], abs=2e-4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_isotonic(seed, higher_is_better):
    score, human = judged(seed)
    turned = score if higher_is_better else -score
    model = IsotonicRegression(increasing=higher_is_better, out_of_bounds="clip").fit(turned, human)
    calibrator = fit("isotonic", turned, human, higher_is_better=higher_is_better)
    new = np.random.default_rng(seed).normal(0, 3, size=500)
    for given in (turned, new):
        assert calibrator.probability(given) == pytest.approx(model.predict(given), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_the_threshold_is_that_of_the_sweep(seed, higher_is_better):
    score, human = judged(seed)
    turned = score if higher_is_better else -score
    calibrator = fit("threshold", turned, human, higher_is_better=higher_is_better)
    found = sweep(turned, human, higher_is_better=higher_is_better)
    assert calibrator.threshold == found.best_threshold
    assert cohen_kappa_score(human, calibrator.verdict(turned)) == pytest.approx(found.best_kappa)


@pytest.mark.parametrize("dimension", ["appropriateness", "completeness", "faithfulness"])
def test_thresholds_of_real_judges_are_those_of_the_reference(mtrag, dimension):
    reference = reference_majority(mtrag.ratings(dimension), mtrag.passes(dimension))
    for judge, figures in mtrag.reference["judges"].items():
        scores, best = mtrag.scores(judge), figures[dimension]["binary"]["best"]
        scored = [position for position, unit in enumerate(reference.unit_ids) if unit in scores]
        score = [scores[reference.unit_ids[position]] for position in scored]
        human = reference.positive[scored]
        threshold = fit("threshold", score, human)
        if best["kappa"] > 0:
            assert threshold.threshold == best["threshold"]
            (cut,) = fit_calibrator("cutpoints", score, human).cuts
            assert cut == best["threshold"]
        else:
            assert isinstance(threshold, NotFitted)


def best_by_trying(score, human, levels):
    cuts = sorted(set(score))
    return max(
        cohen_kappa_score(
            human, np.searchsorted(chosen, score, side="right"), labels=range(levels), weights="quadratic"
        )
        for chosen in combinations_with_replacement([*cuts, np.inf], levels - 1)
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("levels", [3, 4])
def test_cutpoints_against_all_possible_cuts(seed, levels):
    score, human = graded(seed, 25, levels)
    score = np.clip(score, 0, 4)
    for higher_is_better in (True, False):
        turned = score if higher_is_better else -score
        calibrator = fit_calibrator("cutpoints", turned, human, levels=levels, higher_is_better=higher_is_better)
        given = calibrator.verdict(turned)
        kappa = cohen_kappa_score(human, given, labels=range(levels), weights="quadratic")
        assert kappa == pytest.approx(best_by_trying(score, human, levels), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_cut_is_the_best_threshold(seed):
    score, human = judged(seed, 80)
    (cut,) = fit_calibrator("cutpoints", score, human, levels=2).cuts
    assert cut == fit("threshold", score, human).threshold


def test_a_level_that_no_score_should_reach():
    calibrator = fit_calibrator("cutpoints", [1, 2, 3, 4], [0, 0, 1, 1], levels=4)
    assert calibrator == CutpointCalibrator((3.0, None, None), higher_is_better=True)
    assert calibrator.verdict([0, 9]).tolist() == [0, 1]


@pytest.mark.parametrize("method", BINARY)
def test_lower_is_better_is_the_score_turned_round(method):
    score, human = judged(1)
    up = fit(method, score, human)
    down = fit(method, -score, human, higher_is_better=False)
    new = np.linspace(-5, 5, 101)
    if method != "threshold":
        assert down.probability(-new) == pytest.approx(up.probability(new), abs=1e-12)
        assert (down.verdict(-new) == up.verdict(new)).all()
        assert (np.diff(up.probability(new)) >= 0).all()
    assert up.verdict(new)[-1] > up.verdict(new)[0]
    assert down.verdict(-new)[-1] > down.verdict(-new)[0]


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_units_changes_nothing(method, rng):
    score, human = judged(2)
    order = rng.permutation(score.size)
    assert fit(method, score[order], human[order]) == fit(method, score, human)


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1e6, 1e300])
@pytest.mark.parametrize("method", METHODS)
def test_the_scale_of_scores_changes_nothing(method, scale):
    score, human = judged(2)
    one, other = fit(method, score, human), fit(method, score * scale, human)
    assert (one.verdict(score) == other.verdict(score * scale)).all()
    if method in ("platt", "isotonic"):
        assert one.probability(score) == pytest.approx(other.probability(score * scale), abs=1e-9)


def test_platt_exists_when_scores_separate_people_entirely():
    calibrator = fit("platt", [1, 2, 3, 4], [0, 0, 1, 1])
    assert calibrator.verdict([1, 2, 3, 4]).tolist() == [False, False, True, True]
    assert 0 < calibrator.probability([-1e9])[0] < calibrator.probability([1e9])[0] < 1
    # Where the likelihood is greatest, probabilities add up to Platt's targets: ¼ and ¾, twice each.
    assert calibrator.probability([1, 2, 3, 4]).sum() == pytest.approx(2, abs=1e-12)


def test_a_single_outlier_does_not_stop_newton():
    score, human = judged(0)
    calibrator = fit("platt", np.append(score, 1e6), np.append(human, False))
    assert isinstance(calibrator, NotFitted) or np.isfinite(calibrator.slope)


NOT_FITTED = {
    "no units": ([], [], remark("no_units")),
    "all pass": ([1, 2], [1, 1], remark("no_negative")),
    "all fail": ([1, 2], [0, 0], remark("no_positive")),
    "constant scores": ([3, 3, 3], [0, 1, 1], remark("equal_scores")),
    "scores closer than numbers": ([0.0, 5e-324], [0, 1], remark("equal_scores")),
    "the wrong way round": ([1, 2, 3, 4], [1, 1, 0, 0], remark("nothing_to_calibrate")),
}


@pytest.mark.parametrize("what", NOT_FITTED)
@pytest.mark.parametrize("method", METHODS)
def test_not_fitted(method, what):
    score, human, reason = NOT_FITTED[what]
    assert fit(method, score, human) == NotFitted(reason)


def test_cutpoints_with_one_level_used():
    assert fit_calibrator("cutpoints", [1, 2], [1, 1], levels=3) == NotFitted(remark("one_category"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_calibrator("beta", [1], [1]), "no method 'beta'; there are threshold, platt, isotonic, cutpoints"),
        (lambda: fit_calibrator("platt", [1], [1], levels=3), "platt is not for 3 levels"),
        (lambda: fit_calibrator("cutpoints", [1], [1], levels=1), "cutpoints is not for 1 levels"),
        (lambda: fit_calibrator("cutpoints", [1], [3], levels=3), "human holds positions of levels, 0 to 2"),
        (lambda: fit_calibrator("platt", [1], [[1]]), "human is a flat array"),
        (lambda: fit_calibrator("platt", [np.nan, 1], [0, 1]), "score nan at position 0"),
        (lambda: fit_calibrator("platt", [1, 2], [1]), "columns differ in length"),
        (lambda: cross_fit("platt", [1, 2], [0, 1], [1], rng=None), "differ in length: .*cluster"),
        (lambda: cross_fit("platt", [1, 2], [0, 1], [1, 2], rng=None, folds=1), "2 folds or more, not 1"),
    ],
)
def test_what_cannot_be_fitted(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("method", METHODS)
def test_cross_fitting_judges_each_fold_without_itself(method, rng):
    score, human = judged(3)
    cluster = np.arange(300) // 3
    found = cross_fit(method, score, human, cluster, rng=rng)
    assert isinstance(found, CrossFit)
    assert np.bincount(found.fold).tolist() == [60] * 5
    assert (found.fold.reshape(100, 3) == found.fold[::3, None]).all()
    for fold in range(5):
        inside = found.fold == fold
        calibrator = fit(method, score[~inside], human[~inside])
        assert (found.verdict[inside] == calibrator.verdict(score[inside])).all()
        if found.probability is not None:
            assert (found.probability[inside] == calibrator.probability(score[inside])).all()
    assert (found.probability is None) == (method in ("threshold", "cutpoints"))


def test_folds_are_stratified_seeded_and_blind_to_the_order_of_rows():
    score, human = judged(3)
    cluster = np.arange(300)
    one, other = (cross_fit("platt", score, human, cluster, rng=np.random.default_rng(5)) for _ in range(2))
    assert (one.fold == other.fold).all()
    assert np.ptp(np.bincount(one.fold, weights=human)) <= 1
    order = np.random.default_rng(1).permutation(300)
    shuffled = cross_fit("platt", score[order], human[order], cluster[order], rng=np.random.default_rng(5))
    assert (shuffled.fold == one.fold[order]).all()
    assert (shuffled.probability == one.probability[order]).all()
    elsewhere = cross_fit("platt", score, human, cluster, rng=np.random.default_rng(6))
    assert (elsewhere.fold != one.fold).any()


def test_cross_fitting_that_cannot_be(rng):
    few = cross_fit("platt", [1, 2, 3], [0, 1, 1], [1, 2, 3], rng=rng)
    assert few == NotFitted(remark("fewer_clusters_than_folds", n=3, folds=5))
    rare = cross_fit("platt", np.arange(10.0), np.arange(10) == 9, np.arange(10), rng=rng)
    assert isinstance(rare, NotFitted)
    assert rare.reason in [remark("without_fold", fold=at, folds=5, why=remark("no_positive")) for at in range(1, 6)]


def test_on_noise_cross_fitting_shows_none_of_the_luck_of_fitting():
    """The best threshold of pure noise has a kappa above 0 on what it was chosen on, and none elsewhere."""
    rng = np.random.default_rng(8)
    lucky, honest = [], []
    for _ in range(60):
        score, human = rng.normal(size=60), rng.random(60) < 0.5
        lucky.append(sweep(score, human).best_kappa)
        found = cross_fit("threshold", score, human, np.arange(60), rng=rng)
        if isinstance(found, CrossFit):
            honest.append(cohen_kappa_score(human, found.verdict))
    assert np.mean(lucky) > 0.1
    assert abs(np.mean(honest)) < 0.06
