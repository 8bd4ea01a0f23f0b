"""The share that people like these pass: over people as well as over samples."""

import numpy as np
import pytest
from scipy import stats

from alignment.agreement.people_like_these import share_by_people_like_these
from alignment.base.estimate import remark
from bench.promises.people import held


def dealt_out(passed, each=50):
    """Of each person so many labels that pass, on samples of their own."""
    passes = [at < most for most in passed for at in range(each)]
    return passes, np.repeat(range(len(passed)), each), range(len(passes))


def of_trials(share, error):
    """Clopper and Pearson's interval of as many trials as have the error, fewer by t of three degrees of freedom."""
    trials = share * (1 - share) / error**2
    trials *= (stats.t.ppf(0.975, trials - 1) / stats.t.ppf(0.975, 3)) ** 2
    hits = share * trials
    return stats.beta.ppf(0.025, hits, trials - hits + 1), stats.beta.ppf(0.975, hits + 1, trials - hits)


def test_apart_it_is_the_t_interval_of_peoples_shares():
    found = share_by_people_like_these(*dealt_out([20, 30, 35, 40])).share
    own = np.array([0.4, 0.6, 0.7, 0.8])
    ends = of_trials(own.mean(), own.std(ddof=1) / 2)
    assert (found.value, found.low, found.high) == pytest.approx((own.mean(), *ends))
    assert (found.n, found.clusters) == (200, 4)


def test_samples_that_people_share_count_as_shared():
    """Everyone says the same of each sample: people don't vary, and the interval is that of the samples."""
    sample, person = np.tile(np.arange(60), 4), np.repeat(np.arange(4), 60)
    found = share_by_people_like_these(sample < 42, person, sample).share
    # Of (Σ_r u)² = (4u)² four u² are in no pair of two people.
    error = np.sqrt(0.7 * 0.3 / 60 * (1 - 1 / 4))
    assert (found.low, found.high) == pytest.approx(of_trials(0.7, error))


def test_weights_count_within_a_person():
    passes, person, sample = dealt_out([20, 30, 35, 40])
    weight = np.where(passes, 1.0, 3.0)
    found = share_by_people_like_these(passes, person, sample, weight).share
    own = [p / (p + 3 * (50 - p)) for p in (20, 30, 35, 40)]
    assert found.value == pytest.approx(np.mean(own))
    same = share_by_people_like_these(passes, person, sample, np.full(200, 7.0))
    assert same == share_by_people_like_these(passes, person, sample)


def test_who_labelled_little_is_left_out_and_three_are_too_few():
    passes, person, sample = dealt_out([20, 30, 35, 40, 25])
    fewer = np.flatnonzero((person != 4) | (np.arange(250) % 50 < 9))
    found = share_by_people_like_these(np.array(passes)[fewer], person[fewer], np.array(sample)[fewer])
    assert (found.people, found.left_out) == (4, 1)
    assert found.share == share_by_people_like_these(*dealt_out([20, 30, 35, 40])).share
    few = share_by_people_like_these(*dealt_out([20, 30, 35]))
    assert few.share.reason == remark("few_people_labelled", n=3, units=10, needed=4)
    assert (few.share.value, few.people) == (None, 3)
    assert share_by_people_like_these([], [], []).people == 0


def test_where_all_pass_it_is_wide_and_not_certain():
    found = share_by_people_like_these(*dealt_out([50, 50, 50, 50])).share
    assert found.value == 1
    assert found.high == 1
    assert 0.3 < found.low < 0.5


def test_what_it_refuses():
    passes, person, sample = dealt_out([20, 30, 35, 40])
    with pytest.raises(ValueError, match="a weight lies above 0"):
        share_by_people_like_these(passes, person, sample, np.zeros(200))
    with pytest.raises(ValueError, match="differ in length"):
        share_by_people_like_these(passes, person[1:], sample)


@pytest.mark.parametrize("each", [1, 2])
def test_it_holds_over_people_where_an_interval_over_samples_does_not(each):
    """150 worlds of four people (bench.promises.people has 1,000 of each kind)."""
    rng = np.random.default_rng(14)
    found = np.array([held(rng, people=4, samples=200, each=each, differ=0.4) for _ in range(150)])
    before, these, like_these, width = found.mean(axis=0)
    assert before < 0.8
    assert these > 0.9
    assert like_these > 0.92
    assert width < 0.6
