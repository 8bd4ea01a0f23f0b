"""Batches of samples that teach most: drawn with known chances, stored with them, and weighed by them afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from alignment.report import Before, Chance, report_figures
from annotate.batches.draws_read import draw_progress, drawn_samples, finished_draw, unlabelled_samples
from annotate.batches.steps import close_batch, count_single_labels, discount_single_labels, open_batch
from annotate.batches.write import create_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.models import Batch, BatchSample, Criterion, Sample
from judges.certificates.write import look_at_test
from judges.reports.evidence import fingerprint_of, full_evidence
from judges.reports.next_samples import About, make_drawn_batch, next_samples
from judges.reports.read import report_state
from judges.reports.write import freeze_report
from tests.annotate.factories import World, finish, make_world
from tests.database import copied_from_world
from tests.judges.building import (
    GRADES,
    add_judge,
    add_labels,
    add_samples,
    drawn_in_full,
    graded_project,
    stored_sides,
)

pytestmark = pytest.mark.django_db

GOOD = About("good", "grade")


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """200 answers of which 60 are graded by two imported raters and all are scored by two judges."""
    world = make_world()
    found = add_samples(world.project, [f"s{place:03}" for place in range(200)])
    names = list(found)[:60]
    rows = [(name, "answer", rater, grade_of(name)) for name in names for rater in ("ann", "bob")]
    add_labels(world.project.criteria.get(key="grade"), found, rows)
    add_judge(world.project, "good", found, scores(found, wrong_every=7), dimension="grade")
    add_judge(world.project, "poor", found, scores(found, wrong_every=3), dimension="grade")
    return world


world = copied_from_world()


@pytest.fixture
def samples(world: World) -> dict[str, Sample]:
    return {sample.external_id: sample for sample in world.project.samples.all()}


@pytest.fixture
def grade(world: World) -> Criterion:
    return world.project.criteria.get(key="grade")


def grade_of(name: str) -> int:
    return GRADES[int(name[1:]) % len(GRADES)]


def scores(names: Iterable[str], *, wrong_every: int) -> list[tuple[str, str, float]]:
    found = []
    for place, name in enumerate(names):
        score = grade_of(name) / 5 + place / 10_000
        found.append((name, "answer", 1 - score if place % wrong_every == 0 else score))
    return found


def make(world: World, criterion: Criterion, count: int = 40, **changed: Any) -> Batch:
    seen = next_samples(criterion=criterion, count=count, about=GOOD, seed=11, reader=SYSTEM)
    given = {"seed": 11, "plan": seen.plan, "name": "Next", "annotators": world.annotators, "overlap": 1}
    return make_drawn_batch(next_samples, criterion=criterion, count=count, about=GOOD, **{**given, **changed})


def test_a_batch_of_forty_keeps_its_chances(world: World, grade: Criterion) -> None:
    seen = next_samples(criterion=grade, count=40, about=GOOD, seed=11, reader=SYSTEM)
    assert seen.frame == 140
    # Over all that could have been drawn, chances sum to what is drawn …
    assert sum(stratum.samples * stratum.chance for stratum in seen.found.strata) == pytest.approx(40)
    batch = make(world, grade)
    rows = batch.batch_samples.values_list("sample__external_id", "probability", "stratum")
    assert {name: Chance(*chance) for name, *chance in rows} == seen.found.chosen
    assert len(rows) == 40
    # … and the drawn ones stand for all of them.
    assert sum(1 / probability for _, probability, _ in rows) == pytest.approx(140)
    assert batch.status == "draft"
    assert "seed of the draw 11" in batch.selection["note"]


def test_labels_tell_where_a_label_teaches_most(grade: Criterion) -> None:
    # A report divides dev and test, and dev is where the judge's errors may be looked at.
    freeze_report(criterion=grade)
    seen = next_samples(criterion=grade, count=40, about=GOOD, seed=11, reader=SYSTEM).found
    assert seen.basis == "labels"
    assert seen.worth is not None
    assert seen.worth > 1
    assert len({stratum.chance for stratum in seen.strata}) > 1


def test_what_has_labels_or_waits_is_not_drawn(world: World, grade: Criterion, samples: dict[str, Sample]) -> None:
    first = make(world, grade)
    taken = set(first.batch_samples.values_list("sample__external_id", flat=True))
    labelled = set(grade.labels.values_list("sample__external_id", flat=True))
    left = set(unlabelled_samples(grade).values_list("external_id", flat=True))
    assert left == samples.keys() - taken - labelled
    # Of another criterion nothing has labels, but this one asks about claims, and one sample has none.
    support = world.project.criteria.get(key="support")
    Sample.objects.filter(pk=samples["s000"].pk).update(claims=[])
    assert set(unlabelled_samples(support).values_list("external_id", flat=True)) == samples.keys() - {"s000"}


def test_one_confirms_what_one_has_seen(world: World, grade: Criterion, samples: dict[str, Sample]) -> None:
    seen = next_samples(criterion=grade, count=40, about=GOOD, seed=11, reader=SYSTEM)
    assert next_samples(criterion=grade, count=40, about=GOOD, seed=11, reader=SYSTEM).plan == seen.plan
    assert next_samples(criterion=grade, count=40, about=GOOD, seed=12, reader=SYSTEM).plan != seen.plan
    drawn = next(iter(seen.found.chosen))
    add_labels(grade, samples, [(drawn, "answer", "ann", 4)])
    with pytest.raises(Conflict, match="changed since this"):
        make(world, grade, plan=seen.plan)
    assert not Batch.objects.exists()


@pytest.mark.parametrize(
    ("count", "about", "said"),
    [
        (1, None, "from 2 to"),
        (141, None, "Only 140 samples"),
        (40, About("nobody", "grade"), "has no scores"),
    ],
)
def test_refuses(grade: Criterion, count: int, about: About | None, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        next_samples(criterion=grade, count=count, about=about, seed=1, reader=SYSTEM)


def test_nothing_is_left_to_draw_from(world: World, grade: Criterion) -> None:
    make(world, grade, 140)
    with pytest.raises(Invalid, match="nothing to draw from"):
        next_samples(criterion=grade, count=2, reader=SYSTEM)


def test_chances_are_of_all_samples_of_a_batch_or_of_none(world: World, grade: Criterion) -> None:
    selection = {"method": "list", "samples": ["s100", "s101"]}
    people = {"annotators": world.annotators, "overlap": 1, "criteria": [grade], "project": world.project}
    with pytest.raises(Invalid, match="A draw needs a probability"):
        create_batch(name="x", selection=selection, chances={"s100": (0.5, 1)}, **people)
    plain = create_batch(name="x", selection=selection, **people)
    assert set(plain.batch_samples.values_list("probability", "stratum")) == {(None, None)}


@pytest.mark.parametrize(("probability", "stratum"), [(0.0, 1), (1.5, 1), (0.5, None), (None, 1), (0.5, 0)])
def test_the_database_refuses_what_is_no_chance(
    world: World, grade: Criterion, probability: float | None, stratum: int | None
) -> None:
    one = make(world, grade).batch_samples.get(position=0)
    with pytest.raises(IntegrityError, match="batch_sample_chance_with_stratum"), transaction.atomic():
        BatchSample.objects.filter(pk=one.pk).update(probability=probability, stratum=stratum)


def label(batch: Batch, *, all_but: int = 0) -> None:
    tasks = list(batch.tasks.select_related("sample", "annotator"))
    for task in tasks[: len(tasks) - all_but]:
        finish(task, grade=grade_of(task.sample.external_id))


def test_figures_for_all_samples_come_when_the_batch_is_finished(world: World, grade: Criterion) -> None:
    assert report_figures(full_evidence(grade))["drawn"] is None
    batch = open_batch(batch=make(world, grade))
    count_single_labels(batch=batch, actor=world.alice)
    label(batch, all_but=1)
    progress = draw_progress(grade)
    assert progress is not None
    assert (progress.labelled, progress.samples, progress.is_finished) == (39, 40, False)
    assert finished_draw(grade) is None
    assert freeze_report(criterion=grade).result["drawn"] is None
    # Closed early: what is labelled is a random part, so it stands for all.
    close_batch(batch=batch)
    assert report_state(grade, reader=SYSTEM).is_out_of_date
    result = freeze_report(criterion=grade).result
    drawn, passing = result["drawn"], result["passing"]
    # Which samples of the test half were drawn says what judges said of them.
    dev = {name for name, is_dev in stored_sides(grade).items() if is_dev}
    chances = drawn_samples(grade).chances
    labelled = {name for name in dev if name in chances and chances[name] != (1.0, 0)}
    assert (drawn["drawn"], drawn["labelled"], drawn["known"], drawn["population"]) == (40, len(labelled), 60, 200)
    assert 0 < drawn["labelled"] < 39
    assert drawn["unseen"] < 10
    truth = sum(grade_of(f"s{place:03}") >= 4 for place in range(200)) / 200
    weighted = passing["all"]["these"]
    assert weighted["low"] < truth < weighted["high"]
    assert weighted["value"] != passing["labelled"]["these"]["value"]
    # One sample was skipped: what it would have been is unknown. Where all labelled ones of its stratum fail (pass),
    # the value already takes it to fail (pass).
    none, every = passing["all"]["none"], passing["all"]["every"]
    assert none < every
    assert none - 1e-9 <= weighted["value"] <= every + 1e-9
    # What one person said stands for no other sample until a reviewer or an admin stands behind it.
    discount_single_labels(batch=batch, actor=world.alice)
    assert freeze_report(criterion=grade).result["drawn"] is None


def test_who_was_labelled_later_is_stood_for_by_the_draw(
    world: World, grade: Criterion, samples: dict[str, Sample]
) -> None:
    batch = open_batch(batch=make(world, grade))
    label(batch)
    before = drawn_samples(grade).chances
    assert sum(chance == (1.0, 0) for chance in before.values()) == 60
    later = next(name for name in samples if name not in before)
    add_labels(grade, samples, [(later, "answer", "ann", 4)])
    assert drawn_samples(grade).chances == before


def test_a_second_draw_stands_for_what_the_first_left(world: World, grade: Criterion) -> None:
    batch = open_batch(batch=make(world, grade))
    label(count_single_labels(batch=batch))
    first = drawn_samples(grade).chances
    label(open_batch(batch=make(world, grade, 30)))
    second = drawn_samples(grade).chances
    assert sum(1 / probability for probability, _ in second.values()) == pytest.approx(200)
    assert {name for name, chance in second.items() if chance == (1.0, 0)} == first.keys()


def test_chances_are_part_of_the_evidence(world: World, grade: Criterion) -> None:
    label(open_batch(batch=make(world, grade)))
    evidence = full_evidence(grade)
    changed = replace(evidence, chances={**evidence.chances, "s000": Chance(0.5, 1)})
    assert fingerprint_of(evidence, {}) != fingerprint_of(changed, {})


def test_labels_that_gave_way_to_later_ones_are_part_of_it_too(grade: Criterion) -> None:
    evidence = full_evidence(grade)
    changed = replace(evidence, before=[Before(("s000", "answer"), "ann", 1)])
    assert fingerprint_of(evidence, {}) != fingerprint_of(changed, {})


def test_a_finished_draw_is_another_look(world: World, grade: Criterion) -> None:
    """It says with what chance labels came, and by that a look weighs them; its counts of answers stay."""
    drawn_in_full(grade)
    batch = open_batch(batch=make(world, grade))
    label(batch, all_but=1)
    first = look_at_test(criterion=grade, judge_name="good")
    assert look_at_test(criterion=grade, judge_name="good") == first
    close_batch(batch=batch)
    assert finished_draw(grade) is not None
    second = look_at_test(criterion=grade, judge_name="good")
    assert (first.number, second.number) == (1, 2)
    assert first.samples["chances"] != second.samples["chances"]
    assert first.result["confusion"] == second.result["confusion"]
    assert look_at_test(criterion=grade, judge_name="good") == second


def test_works_before_there_is_anything_but_samples() -> None:
    project, _ = graded_project("early", count=0)
    found = add_samples(project, [f"s{place:03}" for place in range(50)])
    criterion = project.criteria.get(key="grade")
    seen = next_samples(criterion=criterion, count=40, seed=1, reader=SYSTEM).found
    assert (seen.basis, seen.worth, len(seen.strata)) == ("nothing", None, 1)
    assert {chance.probability for chance in seen.chosen.values()} == {0.8}
    # With judges alone, they say where verdicts may vary.
    add_judge(project, "good", found, scores(found, wrong_every=7), dimension="grade")
    add_judge(project, "poor", found, scores(found, wrong_every=3), dimension="grade")
    seen = next_samples(criterion=criterion, count=40, seed=1, reader=SYSTEM).found
    assert seen.basis == "judges"
    assert len(seen.strata) > 4
