"""What bias probes did, beside what a judge says otherwise of itself. How often it holds: bench/promises/probes.py."""

from __future__ import annotations

import numpy as np
import pytest

from alignment import probe_effect
from alignment.comparing.measured import compare_shares


def test_the_effect_is_paired_and_the_noise_is_taken_off() -> None:
    # Of 200 units 40 pass with the change and failed without, 10 the other way round; 30 differ unchanged.
    flipped = np.r_[np.ones(50), np.zeros(150)]
    again = np.r_[np.zeros(170), np.ones(30)]
    gain = np.r_[np.ones(40), -np.ones(10), np.zeros(150)]
    found = probe_effect(flipped, again, gain, np.arange(200))
    assert found.effect is not None
    assert found.effect.value == pytest.approx(0.15)
    assert [one.value for one in (found.flips, found.again)] == pytest.approx([0.25, 0.15])
    assert found.excess.value == pytest.approx(0.1)
    assert (found.effect.n, found.effect.clusters, found.verdict) == (400, 200, "more")
    # The interval is the one of differences of shares everywhere.
    versions, groups = np.repeat([0, 1], 200), np.tile(np.arange(200), 2)
    same = compare_shares(versions, groups, np.r_[gain < 0, gain > 0].astype(float), 2).differences[0].figure
    assert (found.effect.low, found.effect.high) == (same.low, same.high)
    assert probe_effect(flipped, again, -gain, np.arange(200)).verdict == "less"


def test_copies_of_a_group_say_nothing_more() -> None:
    rng = np.random.default_rng(3)
    flipped = (rng.random(60) < 0.3).astype(float)
    once = probe_effect(flipped, np.zeros(60), flipped, np.arange(60))
    often = probe_effect(np.repeat(flipped, 5), np.zeros(300), np.repeat(flipped, 5), np.repeat(np.arange(60), 5))
    assert once.effect is not None
    assert often.effect is not None
    assert (often.effect.low, often.effect.high) == pytest.approx((once.effect.low, once.effect.high))


def test_a_noisy_judge_is_no_biased_one() -> None:
    half = np.r_[np.ones(60), np.zeros(90)]
    gain = np.r_[np.ones(30), -np.ones(30), np.zeros(90)]
    assert probe_effect(half, half[::-1], gain, np.arange(150)).verdict == "cannot_tell"
    # To and fro, and an unchanged repeat changes nothing.
    assert probe_effect(half, np.zeros(150), gain, np.arange(150)).verdict == "otherwise"
    assert probe_effect(half, np.zeros(150), None, np.arange(150)).verdict == "otherwise"


def test_no_flip_is_no_certainty() -> None:
    nothing = np.zeros(50)
    few, many = (probe_effect(np.zeros(n), np.zeros(n), np.zeros(n), np.arange(n)) for n in (50, 100))
    assert (few.verdict, many.verdict) == ("cannot_tell", "small")
    assert few.effect is not None
    assert few.effect.high is not None
    assert few.effect.high > 0.05
    undefined = probe_effect(nothing, nothing, nothing, np.arange(50) % 9)
    assert undefined.effect is not None
    assert undefined.effect.reason == {"code": "few_groups_probed", "n": 10}
    assert (undefined.excess.value, undefined.verdict) == (None, "cannot_tell")
