"""Shares and means of all from labels of some. Rogan & Gladen: published answers, the delta method by hand and by brute
force, both samples' variance, refusals. PPI++: figures of ppi_py on real data, classical mean, clusters, weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from alignment import at_threshold, corrected_rate, ppi_mean, reference_majority, rogan_gladen
from alignment.base.estimate import remark

NONE = {"interval": "none"}
INFLUENCE = {"interval": "influence"}
CELLS = st.tuples(*[st.integers(0, 30)] * 6)


@st.composite
def good_judges(draw):
    """Counts of a judge that is right of three in four, or more, of 9 positives and 9 negatives, or more."""
    tn, tp, unlabelled = draw(st.integers(9, 30)), draw(st.integers(9, 30)), draw(st.integers(1, 60))
    fp, fn, passed = (draw(st.integers(0, most)) for most in (tn // 3, tp // 3, unlabelled))
    return tn, fp, fn, tp, unlabelled - passed, passed


def columns(tn, fp, fn, tp, failed, passed):
    """Labelled and unlabelled verdicts with these counts, every unit its own cluster."""
    judge, human = np.repeat([0, 1, 0, 1], [tn, fp, fn, tp]), np.repeat([0, 0, 1, 1], [tn, fp, fn, tp])
    other = np.repeat([0, 1], [failed, passed])
    labelled = judge.size
    return judge, human, np.arange(labelled), other, labelled + np.arange(other.size)


def simulated(seed=3, labelled=80, unlabelled=240, units=3):
    rng = np.random.default_rng(seed)

    def judged(clusters):
        human = np.repeat(rng.random(clusters) < 0.6, units)
        return np.where(rng.random(human.size) < 0.85, human, ~human), human

    (judge, human), (other, _) = judged(labelled), judged(unlabelled)
    return judge, human, np.arange(judge.size) // units, other, labelled + np.arange(other.size) // units


@pytest.mark.parametrize(
    ("share", "tpr", "tnr", "answer"),
    [
        (0.80, 0.92, 0.88, 0.85),
        (23 / 150, 0.96, 0.89, 0.0510),
        (0.4, 0.9, 0.7, 0.1667),
        (0.05, 0.9, 0.9, 0.0),
        (0.99, 0.9, 0.9, 1.0),
    ],
)
def test_known_answers(share, tpr, tnr, answer):
    assert rogan_gladen(share, tpr, tnr) == pytest.approx(answer, abs=5e-5)


@given(st.floats(0, 1), st.floats(0.55, 1), st.floats(0.55, 1))
def test_it_undoes_what_errors_do(share, tpr, tnr):
    """A judge with these rates passes θ TPR + (1 - θ)(1 - TNR); all shares lead into [0, 1], higher ones higher."""
    assert rogan_gladen(share * tpr + (1 - share) * (1 - tnr), tpr, tnr) == pytest.approx(share, abs=1e-9)
    assert 0 <= rogan_gladen(share, tpr, tnr) <= rogan_gladen((1 + share) / 2, tpr, tnr) <= 1
    assert rogan_gladen(1 - share, tnr, tpr) == pytest.approx(1 - rogan_gladen(share, tpr, tnr), abs=1e-9)


def test_a_judge_that_guesses_corrects_nothing():
    with pytest.raises(ValueError, match=r"TPR \+ TNR must be above 1"):
        rogan_gladen(0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("cells", "answer"),
    [((88, 12, 8, 92, 20, 80), 0.85), ((89, 11, 4, 96, 127, 23), 0.0510), ((70, 30, 10, 90, 60, 40), 0.1667)],
)
def test_known_answers_from_labels(cells, answer):
    found = corrected_rate(*columns(*cells), **NONE)
    assert found.rate.value == pytest.approx(answer, abs=5e-5)
    assert (found.rate.n, found.rate.clusters) == (sum(cells), sum(cells))


def test_the_delta_method_by_hand():
    """(p(1 - p)/N + (1 - θ)² TNR(1 - TNR)/n₀ + θ² TPR(1 - TPR)/n₁)/(TPR + TNR - 1)², as Lang & Reiczigel have it."""
    found = corrected_rate(*columns(88, 12, 8, 92, 20, 80), **INFLUENCE).rate
    variance = 0.8 * 0.2 / 100 + 0.15**2 * 0.88 * 0.12 / 100 + 0.85**2 * 0.92 * 0.08 / 100
    error = np.sqrt(variance) / 0.8
    assert found.method == "Rogan-Gladen; influence functions by cluster, t with 99 df"
    assert (found.high - found.value) / stats.t.ppf(0.975, 99) == pytest.approx(error)
    assert found.high - found.value == pytest.approx(found.value - found.low)


def test_the_delta_method_by_leaving_clusters_out():
    given = simulated()
    judge, human, at, other, other_at = given
    left_out = [
        corrected_rate(
            judge[at != one], human[at != one], at[at != one], other[other_at != one], other_at[other_at != one], **NONE
        ).rate.value
        for one in range(320)
    ]
    spread = np.square(np.array(left_out) - np.mean(left_out)).sum() * 319 / 320
    found = corrected_rate(*given, **INFLUENCE).rate
    assert (found.high - found.value) / stats.t.ppf(0.975, 79) == pytest.approx(np.sqrt(spread), rel=0.03)


def test_it_resembles_the_delta_method_where_there_are_many():
    found, delta = (corrected_rate(*simulated(), interval=how).rate for how in ("jackknife", "influence"))
    assert found.value == delta.value
    assert (found.low, found.high) == pytest.approx((delta.low, delta.high), abs=0.03)


def test_fieller_from_exact_shares_by_hand():
    """At either end the three distances to the exact ends make up all that the judged share is away."""
    rate = corrected_rate(*columns(44, 6, 4, 46, 40, 60), interval="jackknife").rate
    p, tpr, tnr = (stats.binomtest(hits, n).proportion_ci() for hits, n in ((60, 100), (46, 50), (44, 50)))
    away = [0.6 - end * 0.92 - (1 - end) * 0.12 for end in (rate.low, rate.high)]
    below = np.hypot(0.6 - p.low, np.hypot(rate.low * (tpr.high - 0.92), (1 - rate.low) * (0.88 - tnr.low)))
    above = np.hypot(p.high - 0.6, np.hypot(rate.high * (0.92 - tpr.low), (1 - rate.high) * (tnr.high - 0.88)))
    assert away == pytest.approx([below, -above], abs=1e-9)


def test_few_bad_answers_make_the_interval_wide_not_none():
    """Four of five bad ones were found: the judge does better than chance, and how much is hardly known."""
    found = corrected_rate(*columns(4, 1, 5, 90, 80, 920), interval="jackknife")
    assert 0 < found.signal.low < found.signal.value < found.signal.high <= 1
    assert found.rate.low < 0.9 < found.rate.value <= found.rate.high


def test_drawn_labels_weigh_one_over_their_chance():
    judge, human, _, other, other_at = simulated()
    at, other_at = np.arange(judge.size), judge.size + other_at
    chance = np.where(judge, 0.25, 1.0)
    found = corrected_rate(judge, human, at, other, other_at, probability=chance, stratum=judge, interval="jackknife")
    tpr = (human & judge).sum() * 4 / ((human & judge).sum() * 4 + (human & ~judge).sum())
    assert found.tpr.value == pytest.approx(tpr)
    assert 0 <= found.rate.low < found.rate.value < found.rate.high <= 1
    alike = corrected_rate(judge, human, at, other, other_at, probability=np.ones(at.size), interval="jackknife")
    assert alike.rate == corrected_rate(judge, human, at, other, other_at, interval="jackknife").rate


def test_both_samples_make_the_interval_wide():
    """With ten times the unlabelled units it is narrower, and with ten times the labelled ones too."""
    few, more_unlabelled, more_labelled = (
        (88, 12, 8, 92, 40, 160),
        (88, 12, 8, 92, 400, 1600),
        (880, 120, 80, 920, 40, 160),
    )
    found = [corrected_rate(*columns(*cells), **INFLUENCE).rate for cells in (few, more_unlabelled, more_labelled)]
    widths = [estimate.high - estimate.low for estimate in found]
    assert widths[1] < 0.7 * widths[0]
    assert widths[2] < 0.8 * widths[0]


def test_copies_in_a_cluster_are_worth_one_unit():
    once = columns(40, 10, 8, 42, 30, 70)
    thrice = [np.repeat(column, 3) for column in once]
    one, three = (corrected_rate(*given, **INFLUENCE).rate for given in (once, thrice))
    assert (three.value, three.low, three.high) == pytest.approx((one.value, one.low, one.high))
    assert (three.n, three.clusters) == (600, 200)


def test_a_cluster_on_both_sides_counts_on_both():
    judge, human, at, other, _ = simulated(labelled=80, unlabelled=80)
    apart = corrected_rate(judge, human, at, other, 80 + at, **INFLUENCE).rate
    shared = corrected_rate(judge, human, at, other, at, **INFLUENCE).rate
    assert shared.value == apart.value
    assert (shared.clusters, apart.clusters) == (80, 160)
    assert shared.high != pytest.approx(apart.high, abs=1e-6)


def test_the_rates_are_those_at_a_threshold(rng):
    judge, human, at, other, other_at = columns(40, 10, 8, 42, 30, 70)
    found = corrected_rate(judge, human, at, other, other_at, rng=rng)
    expected = at_threshold(judge, human, at, 0.5, rng=rng)
    assert (found.tpr, found.tnr) == (expected.tpr, expected.tnr)
    assert (found.judged.value, found.judged.n) == (0.7, 100)
    assert found.signal.value == pytest.approx(found.tpr.value + found.tnr.value - 1)


@settings(max_examples=40)
@given(CELLS, st.sampled_from(["influence", "jackknife"]))
def test_it_lies_between_0_and_1_or_has_a_reason(cells, how):
    rate = corrected_rate(*columns(*cells), interval=how).rate
    if rate.value is None:
        assert rate.reason
    else:
        assert 0 <= rate.value <= 1
        if rate.low is not None:
            assert 0 <= rate.low <= rate.value <= rate.high <= 1


@settings(max_examples=40)
@given(good_judges(), st.sampled_from(["influence", "jackknife"]))
def test_turning_pass_and_fail_round_turns_the_rate(cells, how):
    tn, fp, fn, tp, failed, passed = cells
    one = corrected_rate(*columns(*cells), interval=how).rate
    other = corrected_rate(*columns(tp, fn, fp, tn, passed, failed), interval=how).rate
    assert one.value is not None
    assert other.value == pytest.approx(1 - one.value)
    if one.low is not None:
        assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low))


def test_a_judge_that_never_erred_leaves_the_judged_share_and_may_err_still(rng):
    rate = corrected_rate(*columns(10, 0, 0, 10, 25, 75), rng=rng).rate
    surely = corrected_rate(*columns(1000, 0, 0, 1000, 25, 75), rng=rng).rate
    assert rate.value == surely.value == 0.75
    assert rate.low < surely.low < surely.high < rate.high


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ((0, 0, 3, 9, 5, 5), remark("no_negative")),
        ((9, 3, 0, 0, 5, 5), remark("no_positive")),
        ((0, 0, 0, 0, 5, 5), remark("no_positive")),
        ((9, 3, 3, 9, 0, 0), remark("no_unlabelled")),
        ((9, 9, 9, 10, 50, 50), remark("no_signal")),
        ((2, 30, 30, 2, 50, 50), remark("no_better_than_chance")),
        ((10, 10, 10, 10, 50, 50), remark("no_better_than_chance")),
    ],
)
@pytest.mark.parametrize("kind", ["influence", "auto"])
def test_undefined(rng, cells, reason, kind):
    rate = corrected_rate(*columns(*cells), interval=kind, rng=rng).rate
    assert (rate.value, rate.low, rate.reason) == (None, None, reason)
    assert (rate.n, rate.method) == (sum(cells), "Rogan-Gladen")


def test_undefined_rates_say_which_even_without_intervals():
    assert corrected_rate(*columns(0, 0, 3, 9, 5, 5), **NONE).signal.reason == remark("no_negative")


def test_labels_that_do_not_fit_have_no_interval():
    """TNR is .9, but the judge passes only 1 % of the others: fewer than of negatives alone."""
    rate = corrected_rate(*columns(180, 20, 10, 190, 990, 10), **INFLUENCE).rate
    assert (rate.value, rate.low, rate.high) == (0.0, None, None)
    assert rate.reason == (remark("rate_out_of_reach"))


def test_a_value_cut_at_0_keeps_the_rest_of_its_interval():
    rate = corrected_rate(*columns(45, 5, 5, 45, 92, 8), **INFLUENCE).rate
    assert (rate.value, rate.low) == (0.0, 0.0)
    assert 0 < rate.high < 0.2


def test_without_an_interval(rng):
    rate = corrected_rate(*columns(45, 5, 5, 45, 50, 50), **NONE).rate
    assert (rate.low, rate.reason) == (None, remark("no_interval_asked"))
    lone = corrected_rate([0, 1, 1], [0, 1, 1], [1, 1, 1], [0, 1], [2, 3], rng=rng).rate
    assert (lone.value, lone.reason) == (0.5, remark("few_clusters"))


def test_there_is_no_bootstrap(rng):
    with pytest.raises(ValueError, match="no bootstrap"):
        corrected_rate(*simulated(), interval="bootstrap", rng=rng)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [1, 0], [1, 2], [1], [1]), "differ in length"),
        (([1, 0], [1, 0], [1, 2], [1], [1, 2]), "differ in length"),
        (([2, 0], [1, 0], [1, 2], [1], [1]), "booleans"),
    ],
)
def test_columns_that_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        corrected_rate(*given, **NONE)


NUMBERS = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=15)


def simulated_scores(seed=1, labelled=60, unlabelled=200, units=3):
    """A judge that is often wrong, and unsure of its scores."""
    rng = np.random.default_rng(seed)

    def judged(clusters):
        human = np.repeat(rng.random(clusters) < 0.7, units)
        said = np.where(rng.random(clusters).repeat(units) < 0.75, human, ~human)
        return human.astype(float), 0.7 * said + 0.3 * rng.random(human.size)

    (human, judge), (_, other) = judged(labelled), judged(unlabelled)
    return human, judge, np.arange(human.size) // units, other, labelled + np.arange(other.size) // units


def error(estimate, df):
    return (estimate.high - estimate.value) / stats.t.ppf(0.975, df)


@pytest.mark.parametrize("number", [0, 1])
def test_the_figures_of_ppi_py(mtrag, number):
    """Its intervals take normal quantiles; ours are t's, so errors are compared."""
    case = mtrag.reference["ppi"]["cases"][number]
    reference = reference_majority(mtrag.ratings(case["dimension"]), mtrag.passes(case["dimension"]))
    scores = mtrag.scores(case["judge"])
    units = sorted(range(len(reference.unit_ids)), key=lambda place: "\t".join(reference.unit_ids[place]))
    human = reference.positive[units].astype(float)
    judge = np.array([scores[reference.unit_ids[place]] for place in units])
    labelled = np.arange(judge.size) % 5 == 0
    at = np.arange(judge.size)
    found = ppi_mean(human[labelled], judge[labelled], at[labelled], judge[~labelled], at[~labelled], **INFLUENCE)
    assert (labelled.sum(), (~labelled).sum()) == (case["n"], case["N"])
    for estimate, expected, interval in (
        (found.classical, case["classical_mean"], case["classical_ci"]),
        (found.plain, case["ppi_lambda_1"]["estimate"], case["ppi_lambda_1"]["ci"]),
        (found.tuned, case["ppi_power_tuned"]["estimate"], case["ppi_power_tuned"]["ci"]),
    ):
        assert estimate.value == pytest.approx(expected, abs=1e-6)
        half = error(estimate, case["n"] - 1) * stats.norm.ppf(0.975)
        assert (estimate.value - half, estimate.value + half) == pytest.approx(interval, abs=1e-6)


def test_the_three_differ_by_their_weight():
    human, judge, at, other, other_at = simulated_scores()
    found = ppi_mean(human, judge, at, other, other_at, **INFLUENCE)
    correction = other.mean() - judge.mean()
    assert found.classical.value == pytest.approx(human.mean())
    assert found.plain.value == pytest.approx(human.mean() + correction)
    assert found.tuned.value == pytest.approx(human.mean() + found.weight * correction)
    assert 0 < found.weight < 1
    assert (found.classical.n, found.classical.clusters) == (180, 60)
    assert (found.tuned.n, found.tuned.clusters) == (780, 260)


def test_the_error_by_hand_with_every_unit_its_own_cluster():
    human, judge, _, other, _ = simulated_scores(units=1)
    found = ppi_mean(human, judge, range(60), other, range(60, 260), **INFLUENCE)
    for estimate, weight in ((found.classical, 0.0), (found.plain, 1.0), (found.tuned, found.weight)):
        variance = (human - weight * judge).var() / 60 + weight**2 * other.var() / 200
        assert error(estimate, 59) == pytest.approx(np.sqrt(variance))
    pooled = np.concatenate([judge, other]).var(ddof=1)
    assert found.weight == pytest.approx(np.cov(human, judge, ddof=0)[0, 1] / (1 + 60 / 200) / pooled)


def test_the_weight_leaves_least_variance_with_clusters():
    given = simulated_scores(units=4)
    best = ppi_mean(*given, **INFLUENCE)
    human, judge, at, other, other_at = given
    # A judge whose scores are scaled by s is a judge with weight s: errors over a grid of weights.
    errors = [
        error(ppi_mean(human, judge * scale, at, other * scale, other_at, **INFLUENCE).plain, 59)
        for scale in np.linspace(0.01, 1.5, 150)
    ]
    assert error(best.tuned, 59) <= min(errors) * 1.005


def test_copies_of_scores_in_a_cluster_are_worth_one_unit():
    once = simulated_scores(units=1)
    thrice = [np.repeat(column, 3) for column in once]
    one, three = ppi_mean(*once, **INFLUENCE), ppi_mean(*thrice, **INFLUENCE)
    for name in ("tuned", "plain", "classical"):
        single, copied = getattr(one, name), getattr(three, name)
        # The pooled variance has one degree of freedom less than units, so the weight moves a little.
        assert (copied.value, copied.low, copied.high) == pytest.approx(
            (single.value, single.low, single.high), abs=2e-3
        )


def test_a_judge_that_says_one_thing_has_no_weight():
    human, _, at, other, other_at = simulated_scores()
    found = ppi_mean(human, np.full(human.size, 0.1 + 0.2), at, np.full(other.size, 0.3), other_at, **INFLUENCE)
    assert found.weight == 0.0
    assert found.tuned.value == found.classical.value


@pytest.mark.parametrize("cluster", [[1, 1, 1, 1], [1, 2, 1, 2]])
def test_clusters_that_score_alike_have_no_weight(cluster):
    """One cluster with units on both sides, or two with the same sum: nothing varies between them, up to rounding."""
    found = ppi_mean([1, 0], [0.1, 0.3], cluster[:2], [0.3, 0.1], cluster[2:], **INFLUENCE)
    assert found.weight == 0.0
    assert (found.tuned.value, found.plain.value) == (0.5, pytest.approx(0.5))


def test_a_judge_against_people_has_no_weight():
    human, judge, at, other, other_at = simulated_scores()
    assert ppi_mean(human, -judge, at, -other, other_at, **INFLUENCE).weight == 0.0


def test_the_bootstrap_resembles_influence(rng):
    given = simulated_scores()
    one, other = ppi_mean(*given, interval="bootstrap", rng=rng), ppi_mean(*given, rng=rng)
    for name in ("tuned", "plain", "classical"):
        drawn, plain = getattr(one, name), getattr(other, name)
        assert "influence" in plain.method
        assert (drawn.low, drawn.high) == pytest.approx((plain.low, plain.high), abs=0.015)


@settings(max_examples=40)
@given(st.floats(-3, 3), st.floats(0.1, 3))
def test_units_of_the_value(shift, scale):
    human, judge, at, other, other_at = simulated_scores()
    one = ppi_mean(human, judge, at, other, other_at, **INFLUENCE)
    moved = ppi_mean(
        *(scale * column + shift for column in (human, judge)), at, scale * other + shift, other_at, **INFLUENCE
    )
    for name in ("tuned", "plain", "classical"):
        before, after = getattr(one, name), getattr(moved, name)
        assert (after.value, after.low) == pytest.approx((scale * before.value + shift, scale * before.low + shift))


def test_undefined_means(rng):
    alone = ppi_mean([1, 0], [0.5, 0.4], [1, 2], [], [], rng=rng)
    assert (alone.tuned.reason, alone.plain.reason) == (remark("no_unlabelled"), remark("no_unlabelled"))
    assert alone.weight is None
    assert alone.classical.value == 0.5
    empty = ppi_mean([], [], [], [0.5], [1], rng=rng)
    assert empty.tuned.reason == empty.plain.reason == empty.classical.reason == remark("no_labelled")
    lone = ppi_mean([1, 0], [0.5, 0.4], [1, 1], [0.1, 0.2], [2, 3], rng=rng)
    assert (lone.tuned.low, lone.tuned.reason) == (None, remark("few_clusters"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1], [0.5, 0.4], [1, 2], [0.5], [3]), "differ in length"),
        (([1, 0], [0.5, 0.4], [1, 2], [0.5], [3, 4]), "differ in length"),
        (([1, float("nan")], [0.5, 0.4], [1, 2], [0.5], [3]), "value nan at position 1"),
        (([1, 0], [0.5, 0.4], [1, 2], [float("inf")], [3]), "unlabelled score inf"),
    ],
)
def test_columns_of_scores_that_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        ppi_mean(*given, **INFLUENCE)


def test_errors_that_few_labels_did_not_show_count():
    """A judge that people never contradict on 30 labels may be wrong on one in twenty of 10,000 others."""
    human, other = np.arange(30) < 15, np.arange(10000) < 4850
    given = human.astype(float), human.astype(float), range(30), other.astype(float), range(30, 10030)
    found = ppi_mean(*given, bounds=(0.0, 1.0), interval="jackknife").tuned
    assert found.value == pytest.approx(0.485, abs=0.001)
    assert found.low < 0.44
    assert found.high > 0.53
