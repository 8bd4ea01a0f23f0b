"""Levels and differences of versions: by hand, by second sources, by brute force, and where there are none."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from alignment import Responses, compare_versions, ppi_mean
from alignment.base.estimate import remark
from tests.alignment.comparing.building import random_responses, responses


def compared(given, versions=2, **how):
    return compare_versions(given, versions, rng=np.random.default_rng(1), **how)


def test_by_hand():
    """Of six questions four are labelled: two drawn for sure, and two of four, which count twice."""
    chance, stratum = [1, 1, 0.5, 0.5, 0.5, 0.5], [0, 0, 1, 1, 1, 1]
    values = [[1, 0, 1, 0, 0, 0], [1, 1, 0.5, 1, 0, 0]]
    scores = [[1, 0, 1, 1, 0, 0], [1, 1, 1, np.nan, 1, 0]]
    found = compared(responses(values, scores, [1, 1, 1, 1, 0, 0], chance=chance, stratum=stratum))
    assert [one.figure.people.value for one in found.levels] == pytest.approx([3 / 6, 5 / 6])
    assert [one.figure.raw.value for one in found.levels] == pytest.approx([3 / 6, 4 / 5])
    # Nothing is known of the judge from four labels.
    assert [one.figure.corrected.value for one in found.levels] == pytest.approx([3 / 6, 5 / 6])
    assert [(one.responses, one.labelled, one.unresolved, one.weight) for one in found.levels] == [(6, 4, 0, 0.0)] * 2
    (difference,) = found.differences
    assert (difference.a, difference.b) == (0, 1)
    assert difference.figure.people.value == pytest.approx(2 / 6)
    assert difference.figure.raw.value == pytest.approx(0.3)
    assert (difference.figure.people.n, difference.figure.corrected.n, difference.figure.raw.n) == (8, 12, 11)
    assert (difference.figure.people.clusters, difference.figure.raw.clusters) == (4, 6)


def test_a_right_judge_gives_the_mean_of_all_and_its_error():
    rng = np.random.default_rng(2)
    values = rng.random((2, 400)) < [[0.5], [0.6]]
    found = compared(responses(values, values, np.arange(400) < 100, chance=0.25))
    apart = values[1].astype(float) - values[0]
    (difference,) = found.differences
    assert difference.figure.corrected.value == pytest.approx(apart.mean(), abs=0.002)
    assert [one.weight for one in found.levels] == pytest.approx([1, 1], abs=0.03)
    assert difference.variance.by_questions == pytest.approx(apart.var() / 400, rel=0.03)


def test_the_difference_of_labels_alone_is_the_paired_t_test():
    apart = np.tile([0.5, -0.5, 0.5, -0.5, 0.5], 8)
    values = np.stack([np.full(40, 0.5), 0.5 + apart])
    figure = compared(responses(values, chance=0.1)).differences[0].figure.people
    t = stats.ttest_rel(values[1], values[0])
    # The fifth that is more common counts a little less for the error than the rest.
    assert (figure.low, figure.high) == pytest.approx(t.confidence_interval(0.95), rel=0.02)
    balanced = np.stack([np.full(40, 0.5), np.tile([0.0, 1.0], 20)])
    figure = compared(responses(balanced, chance=0.1)).differences[0].figure.people
    interval = stats.ttest_rel(balanced[1], balanced[0]).confidence_interval(0.95)
    assert (figure.low, figure.high) == pytest.approx(interval)


def test_the_error_of_groups_is_that_of_statsmodels():
    rng = np.random.default_rng(4)
    group = rng.integers(30, size=200)
    values = (rng.random((2, 200)) + rng.random(30)[group]) / 2
    given = responses(values, group=group)
    difference = compared(given).differences[0]
    design = sm.add_constant(given.version.astype(float))
    fit = sm.OLS(given.least, design).fit(cov_type="cluster", cov_kwds={"groups": given.group})
    # It corrects for two coefficients as well.
    assert error_of(difference, 29) == pytest.approx(fit.bse[1] / np.sqrt(399 / 398), rel=1e-4)
    assert difference.figure.people.value == pytest.approx(fit.params[1])
    assert difference.variance.by_questions == pytest.approx(0, abs=1e-12)


def test_a_level_is_nearly_the_prediction_powered_mean():
    """Which fits its weight on the very labels that it corrects."""
    rng = np.random.default_rng(5)
    given = random_responses(rng, versions=1, questions=1000, labelled=200)
    figure = compared(given, 1).levels[0].figure
    asked, at = given.asked, given.group
    plain = ppi_mean(
        given.least[asked],
        given.score[asked],
        at[asked],
        given.score[~asked],
        at[~asked],
        bounds=(0, 1),
        interval="jackknife",
    )
    assert figure.people.value == pytest.approx(plain.classical.value)
    assert figure.corrected.value == pytest.approx(plain.tuned.value, abs=0.005)
    assert figure.corrected.low == pytest.approx(plain.tuned.low, abs=0.01)
    assert figure.corrected.high == pytest.approx(plain.tuned.high, abs=0.01)
    assert figure.corrected.high - figure.corrected.low < figure.people.high - figure.people.low


@pytest.mark.parametrize("strata", [False, True])
def test_the_error_is_that_of_drawing_questions_and_labels_again(strata):
    """Brute force: 300 worlds. With ``strata`` a third of what the judge fails is labelled and a tenth of the rest."""
    rng = np.random.default_rng(6)
    values, errors = [], []
    for _ in range(300):
        good = rng.random((2, 300)) < 0.4 + 0.4 * rng.random(300)
        scores = np.where(rng.random(good.shape) < 0.85, good, ~good)
        kind = scores.all(axis=0) if strata else np.zeros(300, bool)
        asked, chance = np.zeros(300, bool), np.ones(300)
        for one, wanted in ((False, 1 / 3), (True, 0.1)):
            among = np.flatnonzero(kind == one)
            taken = rng.permutation(among)[: round(wanted * among.size)]
            asked[taken], chance[among] = True, taken.size / max(among.size, 1)
        chance[chance == 0] = 1
        (difference,) = compare_versions(
            responses(good, scores, asked, chance=chance, stratum=kind), 2, rng=rng
        ).differences
        values.append(difference.figure.corrected.value)
        errors.append(error_of(difference, asked.sum() - np.unique(kind).size))
    assert np.mean(values) == pytest.approx(0, abs=4 * np.std(values) / np.sqrt(300))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values), rel=0.12)


def test_shared_questions_make_a_difference_surer_than_variances_that_are_added():
    rng = np.random.default_rng(7)
    found = compared(random_responses(rng, alike=0.9, good=(0.6, 0.62)))
    halves = [(one.figure.people.high - one.figure.people.low) / 2 for one in found.levels]
    apart = found.differences[0].figure.people
    assert (apart.high - apart.low) / 2 < 0.7 * np.hypot(*halves)


def test_arms_labelled_on_one_side():
    """A's answers of half of the questions and B's of the others: nothing is in common, so variances add up."""
    rng = np.random.default_rng(8)
    values = rng.random((2, 200)) < 0.5
    first = np.arange(200) < 100
    given = responses(values, None, np.stack([first, ~first]), chance=0.5, stratum=[[0], [1]])
    error = error_of(compared(given).differences[0], 198)
    each = [values[0][first].var(ddof=1) / 100, values[1][~first].var(ddof=1) / 100]
    assert error == pytest.approx(np.sqrt(sum(each)), rel=1e-4)


def test_a_version_without_some_responses_and_a_missing_score():
    rng = np.random.default_rng(9)
    given = random_responses(rng)
    kept = ~((given.version == 1) & (given.group % 7 == 0))
    some = Responses(**{field.name: getattr(given, field.name)[kept] for field in fields(given)})
    found = compared(some)
    assert [one.responses for one in found.levels] == [300, int(kept.sum()) - 300]
    scores = np.where(given.group % 5 == 0, np.nan, given.score)
    missing = compared(replace(given, score=scores))
    assert missing.levels[0].figure.raw.n == 240
    assert missing.levels[0].figure.people == compared(given).levels[0].figure.people
    # It is a constant there: the judge that is silent only there helps less, and no other way.
    full, less = (one.differences[0].figure.corrected for one in (compared(given), missing))
    assert less.high - less.low > full.high - full.low


def test_unresolved_values_are_bounds():
    """Each end is that of people's least, or most, values, with the error that the figure has with these."""
    values = np.tile([[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.5, 1.0]], 10)
    spread = np.zeros(values.shape)
    spread[1, 2] = 0.5
    found = compared(responses(values, spread=spread, chance=0.5))
    least, most = (compared(responses(values + sign * spread, chance=0.5)) for sign in (-1, 1))
    assert [one.unresolved for one in found.levels] == [0, 1]
    assert found.differences[0].unresolved == pytest.approx(1 / 80)
    for of in (lambda one: one.levels[1].figure.people, lambda one: one.differences[0].figure.people):
        assert of(found).value == pytest.approx((of(least).value + of(most).value) / 2)
        assert (of(found).low, of(found).high) == pytest.approx((of(least).low, of(most).high))
    # A's least and most stand against B's most and least.
    spread[0, 1] = 0.5
    values = np.where(spread > 0, 0.5, values)
    apart = compared(responses(values, spread=spread, chance=0.5)).differences[0].figure.people
    ends = np.array([[1], [-1]]) * spread
    least, most = (
        compared(responses(values + sign * ends, chance=0.5)).differences[0].figure.people for sign in (1, -1)
    )
    assert (apart.low, apart.high) == pytest.approx((least.low, most.high))


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(10)
    given = random_responses(rng, versions=3)
    order = rng.permutation(given.version.size)
    shuffled = Responses(**{field.name: getattr(given, field.name)[order] for field in fields(given)})
    for one, other in zip(compared(given, 3).differences, compared(shuffled, 3).differences, strict=True):
        for way in ("people", "raw", "corrected"):
            assert _ends(getattr(one.figure, way)) == pytest.approx(_ends(getattr(other.figure, way)))


def test_renumbered_versions_and_another_baseline():
    given = random_responses(np.random.default_rng(11), versions=3)
    found = compared(given, 3)
    renumbered = compared(replace(given, version=2 - given.version), 3, baseline=2)
    assert [(one.a, one.b) for one in renumbered.differences] == [(2, 0), (2, 1)]
    assert renumbered.differences[::-1][0].figure == found.differences[0].figure
    assert renumbered.levels[::-1] == found.levels
    turned = compared(given, 3, baseline=1).differences[0]
    assert (turned.a, turned.b) == (1, 0)
    for way in ("people", "raw", "corrected"):
        value, low, high = _ends(getattr(found.differences[0].figure, way))
        assert _ends(getattr(turned.figure, way)) == pytest.approx((-value, -high, -low))


def test_comparisons_that_are_to_hold_together_have_a_level_of_their_own():
    given = random_responses(np.random.default_rng(12), versions=3)
    plain, together = compared(given, 3), compared(given, 3, comparison_level=0.975)
    assert together.levels == plain.levels
    for one, other in zip(plain.differences, together.differences, strict=True):
        assert (one.figure.corrected.level, other.figure.corrected.level) == (0.95, 0.975)
        assert other.figure.corrected.low < one.figure.corrected.low
        assert other.figure.corrected.high > one.figure.corrected.high


def test_undefined():
    given = random_responses(np.random.default_rng(13))
    second = given.version == 1
    nobody = replace(given, **{name: np.where(second, np.nan, getattr(given, name)) for name in ("least", "most")})
    found = compared(nobody)
    assert found.levels[1].figure.people.reason == found.levels[1].figure.corrected.reason == remark("no_labelled")
    assert found.levels[1].figure.raw.low is not None
    assert found.differences[0].figure.corrected.reason == remark("no_labelled")
    assert (found.differences[0].variance, found.differences[0].unresolved) == (None, 0)
    assert found.differences[0].figure.raw.value is not None
    without = compared(replace(given, score=np.where(second, np.nan, given.score)))
    difference = without.differences[0]
    assert difference.figure.raw.reason == difference.figure.corrected.reason == remark("no_sample_scored")
    # Then people's is what is concluded from.
    assert difference.figure.decisive is difference.figure.people
    assert difference.variance.by_questions == pytest.approx(0)
    assert without.levels[0].figure.decisive is without.levels[0].figure.corrected
    empty = compared(given, 3)
    assert empty.levels[2].figure.raw.reason == remark("no_sample_scored")
    assert empty.levels[2].figure.people.reason == remark("no_labelled")
    nothing = compared(replace_all(given, np.zeros(given.version.size, bool)))
    assert nothing.differences[0].figure.people.reason == remark("no_labelled")


def test_labels_that_leave_everything_open_are_no_figure():
    values = np.array([[1, 0, 1, 1], [0, 0, 1, 0]])
    scores = np.array([[0.9, 0.1, 0.8, 0.7], [0.2, 0.3, 0.9, 0.1]])
    waiting = compared(responses(values, scores, spread=1))
    for level in waiting.levels:
        assert (level.labelled, level.unresolved) == (4, 4)
        assert level.figure.people.value is level.figure.corrected.value is None
        assert level.figure.corrected.reason == remark("nothing_settled")
        assert level.figure.raw.value is not None
    assert waiting.differences[0].figure.decisive.reason == remark("nothing_settled")
    # One of them that says a little is one.
    spread = np.ones(values.shape)
    spread[:, 0] = 0.5
    assert compared(responses(values, scores, spread=spread)).levels[0].figure.people.value is not None


def replace_all(given, kept):
    return Responses(**{field.name: getattr(given, field.name)[kept] for field in fields(given)})


def test_one_labelled_group_has_no_interval():
    figure = compared(responses([[1, 0, 1], [0, 0, 1]], None, [1, 1, 0], group=[5, 5, 6])).differences[0].figure.people
    assert (figure.value, figure.low, figure.clusters) == (-0.5, None, 1)
    assert figure.reason == remark("few_clusters")


def test_no_difference_among_few_labels_is_no_certainty():
    """Of 60 questions none differs: 6 % may (exactly: 1 - .025^(1/60))."""
    found = compared(responses(np.ones((2, 60)), np.ones((2, 60)), chance=0.1))
    (difference,) = found.differences
    assert _ends(difference.figure.corrected) == pytest.approx((0, -0.0596, 0.0596), abs=1e-4)
    for one in found.levels:
        assert one.figure.people.high == one.figure.corrected.high == 1
        assert one.figure.people.low == pytest.approx(0.94, abs=0.01)
    zeros = compared(responses(np.zeros((2, 60)), chance=0.1)).levels[0].figure.people
    assert (zeros.low, zeros.high) == pytest.approx((0, 1 - found.levels[0].figure.people.low))


def test_a_difference_of_all_questions_stays_in_range():
    values = np.stack([np.zeros(20), np.ones(20)])
    figure = compared(responses(values, chance=0.5)).differences[0].figure.people
    assert (figure.value, figure.high) == (1, 1)
    # Those that were missed may differ by as much the other way.
    assert figure.low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 20)))


def test_few_that_differ_leave_fewer_degrees_of_freedom():
    """Of 200 paired labels 8 differ, all in favour of B: t has about seven."""
    values = np.zeros((2, 200))
    values[1, :8] = 1
    figure = compared(responses(values, chance=0.1)).differences[0].figure.people
    error = values[1].std(ddof=1) / np.sqrt(200)
    assert (figure.high - figure.value) / error == pytest.approx(stats.t.ppf(0.975, 200 * 0.04 * 0.96 / 0.92**2 - 1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": [1.5, 0]}, "score lies between 0 and 1, not 1.5"),
        ({"least": [-0.5, 0]}, "least lies between"),
        ({"most": [2.0, 1]}, "most lies between"),
        ({"most": [np.nan, 1]}, "two bounds"),
        ({"least": [np.nan, 1]}, "two bounds"),
        ({"least": [1, 1], "most": [0, 1]}, "two bounds, the lower one first"),
        ({"probability": [0, 1]}, "probability"),
        ({"probability": [np.nan, 1]}, "probability"),
        ({"probability": [1.1, 1]}, "probability"),
        ({"group": [1]}, "differ in length"),
    ],
)
def test_refused_columns(change, said):
    columns = {"version": [0, 1], "group": [1, 1], "score": [1, 0], "least": [1, 0], "most": [1, 0]}
    columns |= {"probability": [1, 1], "stratum": [0, 0]}
    with pytest.raises(ValueError, match=said):
        Responses.of(**(columns | change))


def test_refused_versions_and_chances():
    given = random_responses(np.random.default_rng(14))
    with pytest.raises(ValueError, match="versions are numbered 0 to 0"):
        compared(given, 1)
    with pytest.raises(ValueError, match="the baseline is one of versions 0 to 1, not 2"):
        compared(given, 2, baseline=2)
    with pytest.raises(ValueError, match="level"):
        compared(given, 2, comparison_level=1.0)
    with pytest.raises(ValueError, match="more than one probability"):
        compared(replace(given, probability=np.where(given.version == 1, 0.5, 0.1)))


def error_of(difference, freedom):
    """The standard error without what few labels add to it."""
    df = float(re.search(r"t with ([\d.]+) df", difference.figure.decisive.method)[1])
    more = (stats.t.ppf(0.975, df) / stats.t.ppf(0.975, freedom)) ** 2
    return np.sqrt(difference.variance.by_labels / more + difference.variance.by_questions)


def _ends(figure):
    return figure.value, figure.low, figure.high
