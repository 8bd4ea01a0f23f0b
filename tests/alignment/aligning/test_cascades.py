"""Cascades of two judges, then people: by the definition, what is certified, and how often wrongly."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from alignment import NO_ANSWER, Cascade, TwoJudges, cascade_family, certified_cascades
from alignment.aligning.cascades import CHEAP, DEAR, PEOPLE
from alignment.base.estimate import remark


def judged(rng, people, right):
    """Answers that are right the more often, the surer they are."""
    sure = np.round(rng.random(people.size), 2)
    return np.where(rng.random(people.size) < right + 0.3 * (sure - 0.5), people, 1 - people), sure


def world(rng, groups=200, size=1, cheap=0.8, dear=0.9, unsettled=0.0, silent=0.0):
    cluster = np.repeat(np.arange(groups), size)
    people = rng.integers(0, 2, cluster.size)
    columns = [*judged(rng, people, cheap), *judged(rng, people, dear)]
    for answers, sure in ((columns[0], columns[1]), (columns[2], columns[3])):
        missing = rng.random(cluster.size) < silent
        answers[missing], sure[missing] = NO_ANSWER, np.nan
    return TwoJudges.of(*columns, np.where(rng.random(cluster.size) < unsettled, NO_ANSWER, people), cluster)


def test_who_decides():
    said = TwoJudges.of(
        [1, 1, NO_ANSWER, NO_ANSWER, 0],
        [0.9, 0.5, np.nan, np.nan, 0.8],
        [0, 0, 1, NO_ANSWER, 1],
        [1.0, 0.7, 0.2, np.nan, 0.9],
        [1, 1, 1, 1, NO_ANSWER],
        list("abcde"),
    )
    decider = Cascade(0.8, 0.7).decider(said)
    assert decider.tolist() == [CHEAP, DEAR, PEOPLE, PEOPLE, CHEAP]
    # The last is unsettled: whatever a judge says of it is a disagreement.
    assert said.disagrees(decider).tolist() == [False, True, False, False, True]
    assert Cascade(math.inf, math.inf).decider(said).tolist() == [PEOPLE] * 5


@pytest.mark.parametrize("seed", range(5))
def test_each_cascade_decides_what_the_one_before_does_and_more(seed):
    """Of units that the cheap judge answers; the others the dear one decides only while the cheap one decides none."""
    rng = np.random.default_rng(seed)
    dev, test = world(rng, silent=0.1, unsettled=0.05), world(rng, silent=0.1)
    family = cascade_family(dev, 200)
    assert len(family) > 3
    assert family == sorted(family, key=lambda one: (-one.cheap, -one.dear))
    decided = [one.decider(test) != PEOPLE for one in family]
    has_cheap = test.cheap != NO_ANSWER
    assert all((before <= after)[has_cheap].all() for before, after in pairwise(decided))
    for one, units in zip(family, decided, strict=True):
        assert units[~has_cheap].any() == np.isinf(one.cheap)
    on_dev = [one.decider(dev) != PEOPLE for one in family]
    assert on_dev[0].mean() >= 0.2
    assert (on_dev[-1] == (dev.cheap != NO_ANSWER)).all()


def test_an_answer_without_sureness_never_decides():
    """And leaves the unit to the dear judge, at every step."""
    said = world(np.random.default_rng(3))
    unsure = np.arange(said.cheap.size) % 7 == 0
    dev = replace(said, cheap_sure=np.where(unsure, -np.inf, said.cheap_sure))
    last = cascade_family(dev, 10_000)[-1]
    assert (last.decider(dev) == np.where(unsure, DEAR, CHEAP)).all()


def test_a_step_decides_as_far_as_its_share_of_disagreement_goes():
    """By trying every pair of sureness, on few units."""
    dev = world(np.random.default_rng(2), groups=60)
    for step in cascade_family(dev, 10_000)[:-1]:
        decider = step.decider(dev)
        wrong = dev.disagrees(decider)
        of_cheap = wrong[decider == CHEAP].mean() if (decider == CHEAP).any() else 0
        of_all = wrong.sum() / (decider != PEOPLE).sum()
        assert max(of_cheap, of_all) <= 0.2
        for lower in dev.dear_sure[dev.dear_sure < step.dear]:
            more = Cascade(step.cheap, lower).decider(dev)
            assert dev.disagrees(more).sum() / (more != PEOPLE).sum() > of_all


@pytest.mark.parametrize("seed", range(4))
def test_certified_is_the_last_before_the_first_that_fails(seed):
    rng = np.random.default_rng(seed)
    family = cascade_family(world(rng, groups=300), 300)
    test = world(rng, groups=300)
    for one in certified_cascades(test, family, confidence=0.96):
        assert one.confidence == pytest.approx(0.99)
        held = 0
        for cascade in family:
            decider = cascade.decider(test)
            wrong, n = test.disagrees(decider).sum(), (decider != PEOPLE).sum()
            # Clopper and Pearson, by the definition: so few would be wrong in 1 % of cases at that share.
            most = 1 - one.agreement
            chance = sum(math.comb(n, k) * most**k * (1 - most) ** (n - k) for k in range(wrong + 1))
            if chance > 0.01:
                break
            held += 1
        assert one.tried == min(held + 1, len(family))
        if held:
            assert one.step.cascade == family[held - 1]
            assert sum(one.step.shares) == pytest.approx(1)
            assert one.reason is None
        else:
            assert one.step is None
            assert one.reason["code"] == "no_cascade"


def test_a_surer_share_leaves_more_to_people():
    rng = np.random.default_rng(3)
    family = cascade_family(world(rng, groups=2000), 2000)
    found = certified_cascades(world(rng, groups=2000), family)
    left = [1 if one.step is None else one.step.shares[PEOPLE] for one in found]
    assert left == sorted(left)
    assert left[0] < left[-1]


def test_unsettled_units_count_against_it_and_stand_beside():
    rng = np.random.default_rng(5)
    family = [Cascade(0.0, 0.0)]
    test = world(rng, groups=400, cheap=1.2, unsettled=0.3)
    (one,) = certified_cascades(test, family, agreements=[0.8])
    assert (one.step, one.tried) == (None, 1)
    assert one.reason["why"]["code"] == "disagreement_above"
    # People settled seven tenths of them.
    (apart,) = certified_cascades(test, family, agreements=[0.5])
    assert apart.step.disagreement.value == pytest.approx(0.3, abs=0.07)
    assert apart.step.of_settled.value < 0.02


@pytest.mark.parametrize(("groups", "code"), [(8, "few_decided_groups"), (100, "disagreement_above")])
def test_why_none(groups, code):
    test = world(np.random.default_rng(7), groups=groups, cheap=0.6)
    (one,) = certified_cascades(test, [Cascade(0.0, math.inf)], agreements=[0.9])
    assert one.reason["why"]["code"] == code
    (nothing,) = certified_cascades(test, [Cascade(math.inf, math.inf)], agreements=[0.9])
    assert nothing.reason == remark("no_cascade", why=remark("no_cascade_decides"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"agreements": []}, "shares of agreement"),
        ({"agreements": [1.0]}, "shares of agreement"),
        ({"family": []}, "no cascade"),
        ({"confidence": 1.0}, "confidence lies"),
    ],
)
def test_what_makes_no_sense_is_refused(change, why):
    with pytest.raises(ValueError, match=why):
        certified_cascades(**{"test": world(np.random.default_rng(1)), "family": [Cascade(0, 0)], **change})


def test_columns_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="dear judge's answer at position 1 has no sureness"):
        TwoJudges.of([1, 1], [1, 1], [1, 1], [1, np.nan], [1, 1], [1, 2])
    with pytest.raises(ValueError, match="differ in length"):
        TwoJudges.of([1, 1], [1, 1], [1], [1], [1, 1], [1, 2])
    with pytest.raises(ValueError, match="needs units"):
        cascade_family(TwoJudges.of([], [], [], [], [], []), 10)


@pytest.mark.parametrize(("size", "unsettled"), [(1, 0.0), (2, 0.05)])
def test_what_is_certified_is_hardly_ever_wrong(size, unsettled):
    """The true disagreement is that on many fresh units of the same source."""
    fresh = world(np.random.default_rng(0), groups=20_000, unsettled=unsettled)
    wrongly, rng = 0, np.random.default_rng(8)
    for _ in range(60):
        family = cascade_family(world(rng, groups=150, size=size, unsettled=unsettled), 150)
        found = certified_cascades(world(rng, groups=150, size=size, unsettled=unsettled), family)
        for one in (one for one in found if one.step):
            decider = one.step.cascade.decider(fresh)
            if fresh.disagrees(decider).sum() / (decider != PEOPLE).sum() > 1 - one.agreement:
                wrongly += 1
                break
    # At most 5 %, so 3 of 60; more than 8 in one of two hundred.
    assert wrongly <= 8
