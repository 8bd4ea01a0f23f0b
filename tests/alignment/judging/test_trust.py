"""The trust verdict: every input has exactly one, and better figures never give a worse one."""

import dataclasses
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alignment import Estimate, cohen_kappa, level_of_look, roc_auc, trust_verdict
from alignment.judging.trust import Verdict

NO_VARIATION = "nothing varies between clusters: no interval"
GRADE = {
    "no signal": 0,
    "not enough labels": 1,
    "below the ceiling": 1,
    "useful once calibrated": 2,
    "at the human ceiling": 3,
}


def about(value, half, **fields):
    return Estimate(value, value - half, value + half, **{"n": 200, "clusters": 200} | fields)


def undefined(reason="only one category was used"):
    return Estimate.undefined(reason)


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
        "at the human ceiling",
        (
            "Less a person's, the judge's kappa is 0.01 (-0.04 to 0.06): surely above -0.05; its own is 0.60 (0.50 to "
            "0.70)."
        ),
    ),
    "worse than people, and useful": (
        {"kappa": about(0.3, 0.1), "calibrated": about(0.55, 0.1), "ceiling": about(-0.2, 0.1)},
        "useful once calibrated",
        "Kappa once calibrated is 0.55 (0.45 to 0.65): surely 0.40 or more.",
    ),
    "useful as it stands": (
        {"kappa": about(0.7, 0.1)},
        "useful once calibrated",
        "Its kappa is 0.70 (0.60 to 0.80): surely 0.40 or more.",
    ),
    "worse than people": (
        {"kappa": about(0.3, 0.1), "calibrated": about(0.35, 0.1), "ceiling": about(-0.2, 0.1)},
        "below the ceiling",
        "Less a person's, the judge's kappa is -0.20 (-0.30 to -0.10): surely below 0.",
    ),
    "a coin": (
        {"kappa": about(0.02, 0.1), "auc": about(0.51, 0.06)},
        "no signal",
        "ROC AUC is 0.51 (0.45 to 0.57): surely below 0.60.",
    ),
    "the wrong way round": (
        {"kappa": about(-0.3, 0.1), "auc": about(0.3, 0.06)},
        "no signal",
        "ROC AUC is 0.30 (0.24 to 0.36): surely below 0.60; if lower scores are better, say so.",
    ),
    "always the same": (
        {
            "kappa": Estimate(0.0, None, None, reason=NO_VARIATION),
            "auc": Estimate(0.5, None, None, reason=NO_VARIATION),
        },
        "no signal",
        f"ROC AUC is 0.50 ({NO_VARIATION}): surely below 0.60.",
    ),
    "perfect": (
        {"kappa": Estimate(1.0, None, None, reason=NO_VARIATION), "ceiling": about(0.2, 0.1)},
        "at the human ceiling",
        (
            "Less a person's, the judge's kappa is 0.20 (0.10 to 0.30): surely above -0.05; its own is 1.00 "
            f"({NO_VARIATION})."
        ),
    ),
    "few samples": (
        {"kappa": about(0.9, 0.05), "ceiling": about(0.1, 0.05), "clusters": 12},
        "not enough labels",
        "12 samples with 36 labels on test are few: intervals want 30 samples.",
    ),
    "a wide AUC": (
        {"kappa": about(0.2, 0.3), "auc": about(0.6, 0.12)},
        "not enough labels",
        "ROC AUC is 0.60 (0.48 to 0.72): not surely above 0.5.",
    ),
    "no AUC": (
        {"kappa": undefined(), "auc": undefined("no unit is negative by people")},
        "not enough labels",
        "ROC AUC is unknown (no unit is negative by people): not surely above 0.5.",
    ),
    "as good as people who guess": (
        {"kappa": about(0.05, 0.1), "ceiling": about(0.05, 0.05)},
        "not enough labels",
        "The judge does as well as people, but its kappa, 0.05 (-0.05 to 0.15), is not surely above 0.",
    ),
    "near people": (
        {"kappa": about(0.35, 0.1), "ceiling": about(-0.04, 0.1)},
        "not enough labels",
        "Less a person's, the judge's kappa is -0.04 (-0.14 to 0.06): neither surely below 0 nor above -0.05.",
    ),
    "nobody to hold it against": (
        {"kappa": about(0.38, 0.1)},
        "not enough labels",
        ("Its kappa is 0.38 (0.28 to 0.48): not surely 0.40 or more; and it was not held against single people."),
    ),
    "nobody, and never useful by itself": (
        {"kappa": about(0.2, 0.05), "ceiling": undefined("fewer than 2 annotators"), "more": lambda *_: 50},
        "not enough labels",
        (
            "Its kappa is 0.20 (0.15 to 0.25): surely below 0.40; and people's own kappa: fewer than 2 "
            "annotators: labels by more people on the same samples are missing."
        ),
    ),
    "a later look": (
        {"kappa": about(0.7, 0.1, level=level_of_look(3))},
        "useful once calibrated",
        "Its kappa is 0.70 (0.60 to 0.80, 99.7% sure): surely 0.40 or more.",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_verdicts_and_their_reasons(what):
    figures, verdict, reason = CASES[what]
    found = verdict_of(**figures)
    assert (found.verdict, found.reason) == (verdict, reason)


def test_every_verdict_is_tried_and_says_what_it_allows():
    found = {verdict_of(**figures).verdict: verdict_of(**figures) for figures, _, _ in CASES.values()}
    assert set(found) == set(get_args(Verdict))
    for verdict in found.values():
        assert verdict.allows.startswith("One may ")
        assert verdict.forbids.startswith("It does not ")


def test_how_many_more():
    asked = []

    def planner(estimate, half_width):
        asked.append((estimate, half_width))
        return 1400

    kappa = about(0.38, 0.1)
    unsure = verdict_of(kappa, more=planner)
    assert asked == [(kappa, pytest.approx(0.025))]
    assert unsure.headline == "not enough labels (about 1,400 more samples)"
    # The bar that is farther from the difference is passed first: 0 here, where it takes ±0.04 and not ±0.01.
    verdict_of(about(0.35, 0.1), ceiling=about(-0.04, 0.1), more=planner)
    assert asked[-1][1] == pytest.approx(0.04)
    verdict_of(about(0.2, 0.3), auc=about(0.6, 0.12), more=planner)
    assert asked[-1][1] == pytest.approx(0.1)
    assert verdict_of(kappa, more=lambda *_: 90).headline == "not enough labels (about 90 more samples)"
    assert verdict_of(kappa).headline == verdict_of(kappa, more=lambda *_: None).headline == "not enough labels"
    assert verdict_of(kappa, clusters=12, more=planner).more == 18
    assert len(asked) == 3


def test_the_other_part_takes_its_share_of_further_samples():
    given = {"kappa": about(0.38, 0.1), "calibrated": None, "auc": about(0.8, 0.05), "ceiling": None, "labels": 9}
    assert trust_verdict(**given, clusters=200, more=lambda *_: 613, share=0.5).more == 1300
    few = trust_verdict(**given, clusters=12, part="on dev", share=0.4)
    assert few.headline == "not enough labels (about 45 more samples)"
    assert few.reason == "12 samples with 9 labels on dev are few: intervals want 30 samples."
    assert trust_verdict(**given, clusters=12, share=0.0).more is None


def test_more_samples_are_not_asked_for_where_they_do_not_help():
    assert verdict_of(**CASES["nobody, and never useful by itself"][0]).more is None
    assert verdict_of(undefined(), auc=undefined(), more=lambda *_: 7).more is None
    assert verdict_of(about(0.7, 0.1), more=lambda *_: 90).more is None


def interval(lowest, highest):
    """An estimate of any kind with figures in a range: with an interval, without, undefined."""
    figures = st.lists(st.floats(lowest, highest), min_size=3, max_size=3).map(sorted)
    reasons = st.sampled_from([NO_VARIATION, "undefined in most bootstrap resamples: no interval"])
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
    assert found.reason.endswith(".")
    assert "None" not in found.reason
    assert "nan" not in found.reason
    assert (found.more is None) or found.verdict == "not enough labels"
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
    assert verdict_of(kappa, auc=auc, clusters=100).verdict == "no signal"
