"""Kappa without some mistakes, against a count by hand; and what to do about them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import alignment
from alignment.report.mistakes import Compared, Voices, compared_units


def evidence(said, **changes):
    units = [(f"s{at}", "answer") for at in range(len(said))]
    criterion = alignment.report.Criterion(
        "ok", 1, "OK", "answer", "binary", "", tuple(alignment.report.Option(v, v) for v in ("no", "yes")), ("yes",)
    )
    return alignment.report.Evidence(
        criterion=criterion,
        seed=1,
        units=[unit for unit in units for _ in range(2)],
        raters=["ann", "bob"] * len(units),
        values=[people for people, _ in said for _ in range(2)],
        verdicts={},
        is_dev={name: True for name, _ in units},
        judges=[
            alignment.report.JudgeScores(
                "j", "1", "ok", higher_is_better=True, labels={u: j for u, (_, j) in zip(units, said, strict=True)}
            )
        ],
        **changes,
    )


def compared(said) -> Compared:
    found = evidence(said)
    one = compared_units(alignment.report.reference_of(found), found.judges[0])
    assert isinstance(one, Compared)
    return one


def by_hand(pairs) -> float:
    n = len(pairs)
    agree = sum(one == other for one, other in pairs) / n
    values = {value for pair in pairs for value in pair}
    chance = sum((sum(p == v for p, _ in pairs) / n) * (sum(j == v for _, j in pairs) / n) for v in values)
    return (agree - chance) / (1 - chance)


def test_kappa_without_units_is_that_of_the_others():
    rng = np.random.default_rng(2)
    said = [(str(rng.choice(["yes", "no"])), str(rng.choice(["yes", "no"]))) for _ in range(40)]
    one = compared(said)
    rows = np.flatnonzero(one.wrong)[:7]
    named = {name: pair for (name, _), pair in zip([(f"s{at}", 0) for at in range(40)], said, strict=True)}
    pairs = [named[name] for name, _ in one.units]
    assert one.kappa().value == pytest.approx(by_hand(pairs))
    left = [pair for at, pair in enumerate(pairs) if at not in rows]
    assert one.kappa(rows).value == pytest.approx(by_hand(left))


def test_kappa_is_undefined_where_one_value_is_left():
    one = compared([("yes", "yes")] * 10 + [("no", "yes")] * 5)
    left = one.kappa(np.flatnonzero(one.wrong))
    assert left.value is None
    assert left.reason is not None


def test_without_both_kinds_there_is_a_reason():
    found = evidence([("yes", "yes")] * 5)
    assert not isinstance(compared_units(alignment.report.reference_of(found), found.judges[0]), Compared)


def test_slices_with_more_mistakes_than_elsewhere():
    """A third of the units in German, of which half are wrong; of all others one in ten; years make no difference."""
    said = [("yes" if at % 2 else "no", "yes" if at % 2 else "no") for at in range(120)]
    german = set(range(0, 120, 3))
    for place, at in enumerate(sorted(german)):
        said[at] = (said[at][0], "yes") if place % 2 == 0 else said[at]
    for at in sorted(set(range(120)) - german)[::10]:
        said[at] = (said[at][0], "no")
    metadata = {f"s{at}": {"language": "de" if at in german else "en", "year": 2020 + at % 4 // 2} for at in range(120)}
    found = evidence(said, metadata=metadata)
    one = compared_units(alignment.report.reference_of(found), found.judges[0])
    assert isinstance(one, Compared)
    (row,) = one.worse_slices()
    wrong = {name for (name, _), bad in zip(one.units, one.wrong, strict=True) if bad}
    in_german = sum(int(name[1:]) in german for name in wrong)
    assert (row["key"], row["value"], row["units"], row["wrong"]) == ("language", "de", 40, in_german)
    assert (row["elsewhere"], row["wrong_elsewhere"]) == (80, len(wrong) - in_german)
    assert row["p_adjusted"] <= 0.05


def voices(*units) -> Voices:
    """Of each: what people said, how many other judges side with the judge; people settled on True."""
    return Voices.of(units, [True] * len(units))


def test_the_judge_is_taught_where_people_agree():
    found = voices(*[((True, True), 0)] * 8, ((True, False), 0))
    assert (found.units, found.several, found.split, found.alone) == (9, 9, 1, 0)
    assert found.is_known
    assert found.advice() == "teach_judge"


def test_the_guideline_is_clarified_where_people_differ():
    assert voices(*[((True, True, False), 0)] * 3, *[((True, True), 0)] * 6).advice() == "clarify_guideline"
    assert voices(*[((True, True, False), 0)] * 2, *[((True, True), 0)] * 4).advice() == "teach_judge"


def test_labels_are_looked_at_again_where_one_person_stands_against_several():
    """A reviewer against two annotators; an annotator alone against two other judges; not against one."""
    assert voices(*[((True, False, False), 0)] * 3, *[((True, True), 0)] * 3).advice() == "relabel"
    assert voices(*[((True,), 2)] * 3).advice() == "relabel"
    assert voices(*[((True, False), 1)] * 3).advice() == "relabel"
    assert voices(*[((True,), 1)] * 9).advice() == "teach_judge"
    assert not voices(*[((True,), 1)] * 9).is_known


def test_two_units_are_no_reason_to_do_anything_else():
    for people, judges in product([(True, False), (True, False, False)], [0, 3]):
        assert voices(*[(people, judges)] * 2).advice() == "teach_judge"
