"""Plans of a report's figures against the 1/√n they follow from, and against labels that really came."""

import pytest

from alignment import Estimate
from alignment.figures.planned import more_samples


def test_half_the_width_takes_four_times_the_samples():
    found = Estimate(0.6, 0.44, 0.76, n=1000, clusters=1000)
    # 1.96 instead of t's 1.9623: a plan is by the normal distribution.
    assert more_samples(found, 0.08) == pytest.approx(3 * 1000, rel=5e-3)
    assert more_samples(found, 0.04) == pytest.approx(15 * 1000, rel=5e-3)


def test_an_interval_that_is_narrow_enough_needs_no_more():
    assert more_samples(Estimate(0.6, 0.55, 0.65, n=50, clusters=50), 0.2) == 0


def test_nothing_is_known_without_an_interval():
    assert more_samples(Estimate.undefined("no units"), 0.1) is None
    assert more_samples(Estimate(1.0, None, None, n=5, clusters=5, reason="nothing varies"), 0.1) is None
