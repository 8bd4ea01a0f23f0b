"""Samples of one group are one cluster, one fold and one side."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from alignment.report import Judged, evidence_as_dict, evidence_from_dict, looked, reference_of, report_figures
from alignment.report.applied import applied, audited
from alignment.report.evidence import Evidence, JudgeScores
from alignment.report.units import UnitKey
from tests.alignment.report.building import GRADES, evidence

# Figures of samples as such: what they are is not what varies together.
OF_SAMPLES = {"per_sample", "planning", "population"}


def _moved(unit: UnitKey) -> UnitKey:
    """Every second claim becomes a sample of its own. Units keep their order."""
    sample, name = unit
    return (f"{sample}b", name) if name == "claim:1" else unit


def _scores(said: JudgeScores) -> JudgeScores:
    return replace(
        said,
        numbers={_moved(unit): value for unit, value in said.numbers.items()},
        labels={_moved(unit): value for unit, value in said.labels.items()},
        again={_moved(unit): value for unit, value in said.again.items()},
    )


def _torn(found: Evidence) -> Evidence:
    """The same data, each sample cut in two that are one group."""
    names = sorted(found.is_dev)
    return replace(
        found,
        units=[_moved(unit) for unit in found.units],
        judges=[_scores(said) for said in found.judges],
        earlier=[_scores(said) for said in found.earlier],
        is_dev={one: found.is_dev[name] for name in names for one in (name, f"{name}b")},
        metadata={one: values for name, values in found.metadata.items() for one in (name, f"{name}b")},
        groups={f"{name}b": name for name in names},
    )


def _world(samples: int, **fields: Any) -> Evidence:
    found = evidence(samples, **fields)
    (judge,) = found.judges
    again = {
        unit: [1 - score] if place % 3 == 0 else [score] for place, (unit, score) in enumerate(judge.numbers.items())
    }
    worse = {unit: 1 - score if place % 5 == 0 else score for place, (unit, score) in enumerate(judge.numbers.items())}
    labels = {unit: "pass" if score > 0.6 else "fail" for unit, score in judge.numbers.items()}
    if found.criterion is GRADES:
        labels = {unit: 1 + int(4 * score) if score < 1 else 4 for unit, score in judge.numbers.items()}
    return replace(
        found,
        judges=[
            replace(judge, again=again),
            replace(judge, judge="labels", numbers={}, labels=labels),
        ],
        earlier=[replace(judge, version="0", numbers=worse)],
        metadata={
            name: {"language": "de" if place // 2 % 2 else "en"} for place, name in enumerate(sorted(found.is_dev))
        },
        days=["2026-11-0" + str(1 + place % 9) for place in range(len(found.units))],
    )


def _estimates(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(found, dict):
        if {"value", "low", "high"} <= found.keys():
            yield path, found
        for name, one in found.items():
            if name not in OF_SAMPLES:
                yield from _estimates(one, (*path, str(name)))
    elif isinstance(found, list):
        for place, one in enumerate(found):
            yield from _estimates(one, (*path, str(place)))


@pytest.mark.parametrize("samples", [60, 100])
def test_every_interval_of_a_report_goes_by_groups(samples: int) -> None:
    """Below and above the number of clusters from which on there is no bootstrap."""
    found = _world(samples)
    whole, torn = (dict(_estimates(report_figures(one))) for one in (found, _torn(found)))
    assert torn == whole
    assert len(whole) > 60
    # Two samples that are no group are two clusters.
    alone = dict(_estimates(report_figures(replace(_torn(found), groups={}))))
    assert alone["judges", "0", "kappa"]["clusters"] == 2 * whole["judges", "0", "kappa"]["clusters"]


def test_a_look_goes_by_groups() -> None:
    found = _world(100, criterion=GRADES, values=[1 + (place // 3 + place // 12) % 4 for place in range(600)])
    whole, torn = (looked(Judged(reference_of(one), one.judges[0]), 2) for one in (found, _torn(found)))
    assert torn.row == whole.row
    assert whole.row["reason"] is None
    assert whole.row["cutpoints"]["kappa"]["value"] is not None


def test_applying_goes_by_groups() -> None:
    found = _world(100)
    rows = []
    for one in (found, _torn(found)):
        look = looked(Judged(reference_of(one), one.judges[0]), 1)
        names = [one.group_of(name) for name in sorted(one.is_dev)]
        assert len(set(names)) == 100
        scores = [0.2, 0.9] * 100
        samples = [f"new{place // 4}" for place in range(200)]
        groups = dict(one.groups)
        if one.groups:
            samples = [f"{name}b" if place % 2 else name for place, name in enumerate(samples)]
            groups |= {name: name.removesuffix("b") for name in samples if name.endswith("b")}
        rows.append(
            applied(
                look.row,
                look.test,
                scores,
                samples,
                chances=look.chances,
                higher_is_better=True,
                groups=groups,
            )
        )
    assert rows[0].rate == rows[1].rate
    assert rows[0].caveat == rows[1].caveat


def test_audits_of_a_group_are_one() -> None:
    found = _world(60)
    rates = []
    for one in (found, _torn(found)):
        arrived = {unit: sorted(found.is_dev).index(one.group_of(unit[0])) for unit in set(one.units)}
        rates.append(audited(reference_of(one), one.judges[0], 0.5, arrived, 0.3))
    assert rates[0] == rates[1]


def test_folds_keep_groups_together() -> None:
    found = _torn(evidence(100))
    fold_of = reference_of(found).fold_of
    assert len(fold_of) == 100
    assert all(fold_of[name] == fold_of[found.group_of(name)] for name in fold_of)
    assert fold_of.items() >= reference_of(evidence(100)).fold_of.items()


def test_groups_are_kept_with_the_evidence_where_there_are_any() -> None:
    plain = evidence(20)
    assert "groups" not in evidence_as_dict(plain)
    torn = _torn(plain)
    assert evidence_from_dict(evidence_as_dict(torn)).groups == torn.groups
    assert evidence_from_dict(evidence_as_dict(plain)).groups == {}


def test_samples_on_neither_side_are_in_no_half() -> None:
    """Those that are kept for comparing systems."""
    found = evidence(100)
    kept = {f"s{place:03}" for place in range(0, 100, 3)}
    sides = {name: is_dev for name, is_dev in found.is_dev.items() if name not in kept}
    judged = Judged(reference_of(replace(found, is_dev=sides)), found.judges[0])
    assert {sample for sample, _ in (*judged.dev, *judged.test)} == sides.keys()
    assert not kept & judged.reference.fold_of.keys()
    assert looked(judged, 1).row["kappa"]["clusters"] == sum(not is_dev for is_dev in sides.values())
    report_figures(replace(found, is_dev=sides))
