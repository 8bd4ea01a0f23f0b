"""The trust verdict: every input has exactly one, and better figures never give a worse one."""

import dataclasses
import json
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alignment import Estimate, cohen_kappa, level_of_look, roc_auc, trust_verdict
from alignment.base.estimate import remark
from alignment.judging.trust import Verdict

NO_VARIATION = remark("no_variation")
GRADE = {
    "no_signal": 0,
    "not_enough_labels": 1,
    "below_ceiling": 1,
    "useful_once_calibrated": 2,
    "at_ceiling": 3,
}


def about(value, half, **fields):
    return Estimate(value, value - half, value + half, **{"n": 200, "clusters": 200} | fields)


def undefined(code="one_category"):
    return Estimate.undefined(remark(code))


def verdict_of(kappa, calibrated=None, auc=None, ceiling=None, clusters=200, more=None):
    return trust_verdict(
        kappa=kappa,
        calibrated=calibrated,
        auc=auc or about(0.8, 0.05),
        ceiling=ceiling,
        labels=3 * clusters,
        clusters=clusters,
        more=more,
    )


CASES = {
    "as good as people": (
        {"kappa": about(0.6, 0.1), "ceiling": about(0.01, 0.05)},
        "at_ceiling",
        (
            remark(
                "ceiling_reached",
                less=remark("figure", value=0.01, low=-0.04, high=0.06),
                margin=-0.05,
                kappa=remark("figure", value=0.6, low=0.5, high=0.7),
            )
        ),
    ),
    "worse than people, and useful": (
        {"kappa": about(0.3, 0.1), "calibrated": about(0.55, 0.1), "ceiling": about(-0.2, 0.1)},
        "useful_once_calibrated",
        remark("calibrated_useful", kappa=remark("figure", value=0.55, low=0.45, high=0.65), bar=0.4),
    ),
    "useful as it stands": (
        {"kappa": about(0.7, 0.1)},
        "useful_once_calibrated",
        remark("kappa_useful", kappa=remark("figure", value=0.7, low=0.6, high=0.8), bar=0.4),
    ),
    "worse than people": (
        {"kappa": about(0.3, 0.1), "calibrated": about(0.35, 0.1), "ceiling": about(-0.2, 0.1)},
        "below_ceiling",
        remark("ceiling_missed", less=remark("figure", value=-0.2, low=-0.3, high=-0.1)),
    ),
    "a coin": (
        {"kappa": about(0.02, 0.1), "auc": about(0.51, 0.06)},
        "no_signal",
        remark("auc_weak", auc=remark("figure", value=0.51, low=0.45, high=0.57), bar=0.6),
    ),
    "the wrong way round": (
        {"kappa": about(-0.3, 0.1), "auc": about(0.3, 0.06)},
        "no_signal",
        remark("auc_turned", auc=remark("figure", value=0.3, low=0.24, high=0.36), bar=0.6),
    ),
    "always the same": (
        {
            "kappa": Estimate(0.0, None, None, reason=NO_VARIATION),
            "auc": Estimate(0.5, None, None, reason=NO_VARIATION),
        },
        "no_signal",
        remark("auc_weak", auc=remark("figure_without_interval", value=0.5, why=NO_VARIATION), bar=0.6),
    ),
    "perfect": (
        {"kappa": Estimate(1.0, None, None, reason=NO_VARIATION), "ceiling": about(0.2, 0.1)},
        "at_ceiling",
        remark(
            "ceiling_reached",
            less=remark("figure", value=0.2, low=0.1, high=0.3),
            margin=-0.05,
            kappa=remark("figure_without_interval", value=1.0, why=NO_VARIATION),
        ),
    ),
    "few samples": (
        {"kappa": about(0.9, 0.05), "ceiling": about(0.1, 0.05), "clusters": 12},
        "not_enough_labels",
        remark("few_labels_on_test", n=12, labels=36, fewest=30),
    ),
    "a wide AUC": (
        {"kappa": about(0.2, 0.3), "auc": about(0.6, 0.12)},
        "not_enough_labels",
        remark("auc_open", auc=remark("figure", value=0.6, low=0.48, high=0.72)),
    ),
    "no AUC": (
        {"kappa": undefined(), "auc": undefined("no_negative")},
        "not_enough_labels",
        remark("auc_open", auc=remark("unknown", why=remark("no_negative"))),
    ),
    "as good as people who guess": (
        {"kappa": about(0.05, 0.1), "ceiling": about(0.05, 0.05)},
        "not_enough_labels",
        remark("ceiling_by_chance", kappa=remark("figure", value=0.05, low=-0.05, high=0.15)),
    ),
    "near people": (
        {"kappa": about(0.35, 0.1), "ceiling": about(-0.04, 0.1)},
        "not_enough_labels",
        remark("ceiling_open", less=remark("figure", value=-0.04, low=-0.14, high=0.06)),
    ),
    "no people to compare it with": (
        {"kappa": about(0.38, 0.1)},
        "not_enough_labels",
        remark(
            "kappa_open",
            kappa=remark("figure", value=0.38, low=0.28, high=0.48),
            bar=0.4,
            why=remark("no_single_people"),
        ),
    ),
    "no people, and never useful by itself": (
        {"kappa": about(0.2, 0.05), "ceiling": undefined("no_others"), "more": lambda *_: 50},
        "not_enough_labels",
        remark(
            "kappa_low",
            kappa=remark("figure", value=0.2, low=0.15, high=0.25),
            bar=0.4,
            why=remark("no_kappa_of_people", why=remark("no_others")),
        ),
    ),
    "a later look": (
        {"kappa": about(0.7, 0.1, level=level_of_look(3))},
        "useful_once_calibrated",
        remark("kappa_useful", kappa=remark("figure_at_level", value=0.7, low=0.6, high=0.8, level=0.997), bar=0.4),
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_verdicts_and_their_reasons(what):
    figures, verdict, reason = CASES[what]
    found = verdict_of(**figures)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_every_verdict_is_tried():
    assert {verdict_of(**figures).verdict for figures, _, _ in CASES.values()} == set(get_args(Verdict))


def test_how_many_more():
    asked = []

    def planner(estimate, half_width):
        asked.append((estimate, half_width))
        return 1400

    kappa = about(0.38, 0.1)
    unsure = verdict_of(kappa, more=planner)
    assert asked == [(kappa, pytest.approx(0.025))]
    assert (unsure.verdict, unsure.more) == ("not_enough_labels", 1400)
    # The bar that is farther from the difference is passed first: 0 here, where it takes ±0.04 and not ±0.01.
    verdict_of(about(0.35, 0.1), ceiling=about(-0.04, 0.1), more=planner)
    assert asked[-1][1] == pytest.approx(0.04)
    verdict_of(about(0.2, 0.3), auc=about(0.6, 0.12), more=planner)
    assert asked[-1][1] == pytest.approx(0.1)
    assert verdict_of(kappa, more=lambda *_: 90).more == 90
    assert verdict_of(kappa).more is verdict_of(kappa, more=lambda *_: None).more is None
    assert verdict_of(kappa, clusters=12, more=planner).more == 18
    assert len(asked) == 3


def test_the_other_part_takes_its_share_of_further_samples():
    given = {"kappa": about(0.38, 0.1), "calibrated": None, "auc": about(0.8, 0.05), "ceiling": None, "labels": 9}
    assert trust_verdict(**given, clusters=200, more=lambda *_: 613, share=0.5).more == 1300
    few = trust_verdict(**given, clusters=12, part="dev", share=0.4)
    assert (few.verdict, few.more) == ("not_enough_labels", 45)
    assert few.reason == remark("few_labels_on_dev", n=12, labels=9, fewest=30)
    assert trust_verdict(**given, clusters=12, share=0.0).more is None


def test_more_samples_are_not_asked_for_where_they_do_not_help():
    assert verdict_of(**CASES["no people, and never useful by itself"][0]).more is None
    assert verdict_of(undefined(), auc=undefined(), more=lambda *_: 7).more is None
    assert verdict_of(about(0.7, 0.1), more=lambda *_: 90).more is None


def interval(lowest, highest):
    """An estimate of any kind with figures in a range: with an interval, without, undefined."""
    figures = st.lists(st.floats(lowest, highest), min_size=3, max_size=3).map(sorted)
    reasons = st.sampled_from([NO_VARIATION, remark("mostly_undefined")])
    return st.one_of(
        figures.map(lambda three: Estimate(three[1], three[0], three[2])),
        st.builds(
            lambda value, reason: Estimate(value, None, None, reason=reason), st.floats(lowest, highest), reasons
        ),
        st.builds(Estimate.undefined, reasons),
    )


inputs = st.fixed_dictionaries(
    {
        "kappa": interval(-1, 1),
        "calibrated": st.none() | interval(-1, 1),
        "auc": interval(0, 1),
        "ceiling": st.none() | interval(-2, 2),
        "clusters": st.integers(0, 100),
        "labels": st.integers(0, 1000),
        "more": st.none()
        | st.just(lambda estimate, half_width: None)
        | st.just(lambda estimate, half_width: round(1 / half_width)),
    }
)


@given(figures=inputs)
def test_every_input_has_one_verdict(figures):
    found = trust_verdict(**figures)
    assert found.verdict in get_args(Verdict)
    assert json.loads(json.dumps(found.reason, allow_nan=False)) == found.reason
    assert (found.more is None) or found.verdict == "not_enough_labels"
    assert found == trust_verdict(**figures)


def raised(estimate, by, highest):
    """The same estimate with every figure better by so much."""
    if estimate is None or estimate.value is None:
        return estimate
    figures = {
        name: min(getattr(estimate, name) + by, highest)
        for name in ("value", "low", "high")
        if getattr(estimate, name) is not None
    }
    return dataclasses.replace(estimate, **figures)


@given(figures=inputs, by=st.tuples(*[st.floats(0, 1)] * 4), samples=st.integers(0, 50))
def test_better_figures_never_give_a_worse_verdict(figures, by, samples):
    better = figures | {
        "kappa": raised(figures["kappa"], by[0], 1),
        "calibrated": raised(figures["calibrated"], by[1], 1),
        "auc": raised(figures["auc"], by[2], 1),
        "ceiling": raised(figures["ceiling"], by[3], 2),
    }
    one, other = trust_verdict(**figures), trust_verdict(**better)
    assert GRADE[other.verdict] >= GRADE[one.verdict]
    assume(figures["clusters"] >= 30)
    more = trust_verdict(**figures | {"clusters": figures["clusters"] + samples})
    assert more.verdict == one.verdict


@given(figures=inputs, narrower=st.floats(0, 1))
def test_narrower_intervals_never_take_a_good_verdict_back(figures, narrower):
    def narrow(estimate):
        if estimate is None or estimate.low is None:
            return estimate
        ends = {
            name: estimate.value + (getattr(estimate, name) - estimate.value) * narrower for name in ("low", "high")
        }
        return dataclasses.replace(estimate, **ends)

    names = ("kappa", "calibrated", "auc", "ceiling")
    one = trust_verdict(**figures)
    other = trust_verdict(**figures | {name: narrow(figures[name]) for name in names})
    if GRADE[one.verdict] >= 2:
        assert GRADE[other.verdict] >= GRADE[one.verdict]


@given(figures=inputs)
def test_a_perfect_kappa_is_no_worse_for_having_no_interval(figures):
    perfect = figures | {"kappa": Estimate(1.0, None, None, reason=NO_VARIATION)}
    assert GRADE[trust_verdict(**perfect).verdict] >= GRADE[trust_verdict(**figures).verdict]


def test_on_estimates_as_they_come(from_confusion):
    """A judge that always says yes, from the data on."""
    ratings = from_confusion([[0, 50], [0, 50]])
    kappa = cohen_kappa(ratings, "a", "b", interval="influence")
    auc = roc_auc(np.ones(100), np.arange(100) < 50, np.arange(100), interval="influence")
    assert verdict_of(kappa, auc=auc, clusters=100).verdict == "no_signal"
