"""What a certified region leaves to people, against a loop over every unit."""

from __future__ import annotations

import random
from typing import Any

import pytest

import alignment.judging.triage
from annotate.core.blindness import SYSTEM
from annotate.core.units import units_of
from annotate.models import Criterion, Project, User, Verdict
from annotate.projects.write import set_member
from judges.certificates.triage_read import ROUNDING, left_to_people
from judges.models import PROMISE, JudgeVersion, Look, Score
from tests.annotate.factories import make_batch
from tests.judges.building import add_judge, add_labels, add_samples, make_project

pytestmark = pytest.mark.django_db

REGION = {"threshold": 0.5, "distance": 0.3}


def test_distances_are_rounded_as_in_the_statistics() -> None:
    assert ROUNDING == alignment.judging.triage.ROUNDING


def look_of(criterion: Criterion, version: JudgeVersion, verdict: str = "alone_in_region") -> Look:
    return Look.objects.create(
        project=criterion.project,
        criterion_key=criterion.key,
        criterion=criterion,
        judge=version.judge,
        version=version,
        dimension=criterion.key,
        number=Look.objects.count() + 1,
        level=0.95,
        promise=PROMISE,
        result={"region": REGION, "decision": {"verdict": verdict}},
        samples={"dev": [], "test": {}},
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_rest_by_a_loop_over_units(seed: int) -> None:
    rng = random.Random(seed)
    project = make_project(criteria=["support", "correct"])
    criterion = project.criteria.get(key="support")
    names = [f"s{place:02}" for place in range(40)]
    samples = add_samples(project, names)
    for sample in samples.values():
        sample.claims = [{"text": "c"}] * rng.choice([0, 1, 2, 3])
        sample.save()
    units = [(name, unit) for name in names for unit in units_of(samples[name], "claim")]
    # .8 and .2 are exactly as far as the region begins, up to rounding.
    said = {unit: rng.choice([0.0, 0.2, 0.3, 0.7, 0.8, 1.0, None]) for unit in units if rng.random() < 0.9}
    # A claim that its sample no longer has.
    said["s00", "claim:9"] = 1.0
    version = add_judge(project, "j", samples, [(*unit, number) for unit, number in said.items()])
    _noise(project, version, units, rng)
    labelled = {unit for unit in units if rng.random() < 0.4}
    settled = {unit for unit in units if rng.random() < 0.2}
    add_labels(criterion, samples, [(*unit, "ann", "supported") for unit in labelled])
    add_labels(project.criteria.get(key="correct"), samples, [(*unit, "ann", "correct") for unit in units])
    _verdicts(criterion, samples, settled, units)

    outside = {
        unit
        for unit in units
        if said.get(unit) is None or abs(said[unit] - 0.5) < 0.3 - 1e-9  # type: ignore[operator]
    }
    left = left_to_people(look_of(criterion, version), reader=SYSTEM)
    assert left is not None
    assert left.samples == left.shown == len({name for name, _ in units})
    assert left.rest == sorted({name for name, _ in outside})
    assert left.unlabelled == sorted({name for name, _ in outside - labelled - settled})
    assert 0 < len(left.unlabelled) < len(left.rest) < left.samples


def _noise(project: Project, version: JudgeVersion, units: list[tuple[str, str]], rng: random.Random) -> None:
    """Scores that are none of this version's first answers to this question."""
    samples = {sample.external_id: sample for sample in project.samples.all()}
    add_judge(project, "j", samples, [(*unit, 1.0) for unit in units], label="2")
    add_judge(project, "k", samples, [(*unit, 1.0) for unit in units])
    add_judge(project, "j", samples, [(*unit, 1.0) for unit in units], dimension="correct")
    Score.objects.bulk_create(
        Score(
            version=version,
            run=version.runs.first(),
            sample=samples[name],
            unit=unit,
            dimension="support",
            repeat=1,
            number=1.0,
        )
        for name, unit in rng.sample(units, 20)
    )


def _verdicts(
    criterion: Criterion, samples: dict[str, Any], settled: set[tuple[str, str]], units: list[tuple[str, str]]
) -> None:
    for name, unit in units:
        found = (name, unit) in settled
        Verdict.objects.create(
            sample=samples[name],
            unit=unit,
            criterion=criterion,
            state="settled" if found else "disputed",
            value="supported" if found else None,
            method="unanimous" if found else "",
        )


def test_of_units_that_a_sample_has_once() -> None:
    project = make_project(criteria=["relevancy"])
    criterion = project.criteria.get(key="relevancy")
    samples = add_samples(project, ["b", "a", "c"])
    version = add_judge(project, "j", samples, [("a", "answer", 0.9), ("b", "answer", 0.6)], dimension="relevancy")
    left = left_to_people(look_of(criterion, version), reader=SYSTEM)
    assert left is not None
    # In import order.
    assert (left.samples, left.rest, left.unlabelled) == (3, ["b", "c"], ["b", "c"])


def test_what_the_reader_still_labels_is_not_listed() -> None:
    project = make_project(criteria=["relevancy"])
    criterion = project.criteria.get(key="relevancy")
    samples = add_samples(project, ["a", "b", "c"])
    version = add_judge(project, "j", samples, [(name, "answer", 0.6) for name in "ab"], dimension="relevancy")
    ann = User.objects.create_user("ann", password="ann-secret-words")
    set_member(project=project, user=ann, role="admin")
    make_batch(project, [ann], samples=["b", "c"], criteria=[criterion])
    left = left_to_people(look_of(criterion, version), reader=ann)
    assert left is not None
    assert (left.samples, left.shown, left.held_back) == (3, 1, 2)
    assert (left.rest, left.unlabelled) == (["a"], ["a"])


def test_where_it_decides_nothing_alone_nothing_is_said() -> None:
    project = make_project(criteria=["relevancy"])
    criterion = project.criteria.get(key="relevancy")
    version = add_judge(project, "j", add_samples(project, ["a"]), [("a", "answer", 0.9)], dimension="relevancy")
    assert left_to_people(look_of(criterion, version, "with_a_person"), reader=SYSTEM) is None
