"""What share passes in a report: against plain counting, and what undecided units could make of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from alignment import weighted_mean
from alignment.agreement.people_like_these import share_by_people_like_these
from alignment.report import Chance
from alignment.report.passing import passing_figures
from alignment.report.reference import NO_PASSES, reference_of
from tests.alignment.report.building import KINDS, evidence

PEOPLE = ("ann", "bob", "cat", "dan")


def figures(found):
    return passing_figures(reference_of(found))


def test_these_people_and_people_like_these():
    found = evidence(people=PEOPLE)
    shown = figures(found)
    assert (shown["reason"], shown["all"]) == (None, None)
    positive = reference_of(found).positive
    samples = [sample for sample, _ in positive]
    these = weighted_mean(list(positive.values()), samples, [1.0] * len(samples), [0] * len(samples), bounds=(0.0, 1.0))
    assert shown["labelled"]["these"] == these.as_dict()
    passes = [value == "pass" for value in found.values]
    like_these = share_by_people_like_these(passes, np.array(found.raters), [sample for sample, _ in found.units])
    assert shown["labelled"]["like_these"] == pytest.approx(like_these.share.as_dict())
    assert (shown["labelled"]["people"], shown["labelled"]["left_out"]) == (4, 0)
    json.dumps(shown, allow_nan=False)


def test_ties_and_what_is_open_are_bounds():
    found = evidence(people=PEOPLE)
    reference = reference_of(found)
    ties = reference.ties
    waiting = list(reference.positive)[:30]
    shown = figures(replace(found, unsettled=dict.fromkeys(waiting, "open")))["labelled"]
    settled = [passed for unit, passed in reference.positive.items() if unit not in waiting]
    assert ties > 0
    assert shown["undecided"] == 30 + ties
    assert shown["these"]["value"] == pytest.approx(np.mean(settled))
    assert shown["none"] == pytest.approx(sum(settled) / 240)
    assert shown["every"] == pytest.approx((sum(settled) + 30 + ties) / 240)
    # A person's label needs no verdict.
    assert shown["like_these"] == figures(found)["labelled"]["like_these"]


def test_single_labels_that_settle_nothing_are_no_part_of_either():
    found = evidence(people=PEOPLE)
    alone = dict.fromkeys(list(reference_of(found).positive)[:30], "single")
    shown = figures(replace(found, unsettled=alone))["labelled"]
    assert shown["like_these"]["n"] == 4 * 210
    everything = figures(replace(found, unsettled=alone, settled_only=False))["labelled"]
    assert everything["like_these"]["n"] == 4 * 240


def test_of_a_draw_each_label_stands_for_others_and_skipped_samples_are_bounds():
    """Stratum 1: 40 of 80 drawn and all labelled; stratum 2: 80 of 800, of which 20 were skipped."""
    found = evidence(100, claims=1, people=PEOPLE)
    names = [f"s{place:03}" for place in range(100)]
    chances = {name: Chance(0.5, 1) if place < 40 else Chance(0.1, 2) for place, name in enumerate(names)}
    chances |= {f"skipped {place}": Chance(0.1, 2) for place in range(20)}
    shown = figures(replace(found, chances=chances))["all"]
    positive = {unit[0]: passed for unit, passed in reference_of(found).positive.items()}
    few, many = ([positive[name] for name in part if name in positive] for part in (names[:40], names[40:]))
    assert shown["these"]["value"] == pytest.approx((80 * np.mean(few) + 800 * np.mean(many)) / 880)
    ties = [sum(name not in positive for name in part) for part in (names[:40], names[40:])]
    assert (shown["undecided"], shown["skipped"]) == (sum(ties), 20)
    unknown = 2 * ties[0] + 10 * (ties[1] + 20)
    assert shown["none"] == pytest.approx((2 * sum(few) + 10 * sum(many)) / 880)
    assert shown["every"] == pytest.approx((2 * sum(few) + 10 * sum(many) + unknown) / 880)
    weight = [2.0 if int(sample[1:]) < 40 else 800 / 60 for sample, _ in found.units]
    passes = [value == "pass" for value in found.values]
    samples = [sample for sample, _ in found.units]
    like_these = share_by_people_like_these(passes, np.array(found.raters), samples, weight).share
    assert shown["like_these"] == pytest.approx(like_these.as_dict())


def test_all_samples_were_asked_about_and_some_skipped():
    found = evidence(50, claims=1, people=PEOPLE)
    asked = {f"s{place:03}": Chance(1.0, 1) for place in range(50)}
    assert figures(replace(found, chances=asked))["all"] is None
    shown = figures(replace(found, chances=asked | {"skipped": Chance(1.0, 1)}))
    assert shown["all"]["these"]["value"] == pytest.approx(shown["labelled"]["these"]["value"])
    assert (shown["all"]["skipped"], shown["labelled"]["skipped"]) == (1, 0)
    assert shown["all"]["every"] > shown["labelled"]["every"] - 1e-12
    # What nobody asked about has nothing to speak for it.
    assert figures(replace(found, chances={"elsewhere": Chance(0.5, 1)}))["all"] is None


def test_three_people_speak_for_themselves_alone():
    shown = figures(evidence())["labelled"]
    assert shown["these"]["low"] is not None
    assert shown["like_these"]["value"] is None
    assert shown["like_these"]["reason"]["code"] == "few_people_labelled"


def test_nothing_without_passes_or_labels():
    kinds = figures(evidence(criterion=KINDS, values=["abc"[place % 3] for place in range(720)], is_dev={}))
    assert kinds == {"reason": NO_PASSES, "labelled": None, "all": None}
    shown = figures(evidence(units=[], raters=[], values=[], is_dev={}))["labelled"]
    assert (shown["these"]["value"], shown["like_these"]["value"]) == (None, None)
    assert (shown["none"], shown["every"], shown["undecided"]) == (None, None, 0)
