"""Ways in which chosen labels could pass for drawn ones, as a referee tried them: each ends in no chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from annotate.batches.criterion_change_read import Choices
from annotate.batches.declared_draws import declare_draw
from annotate.batches.draws_read import drawn_samples, how_labelled
from annotate.batches.relabelling import change_criterion
from annotate.batches.steps import close_batch, count_single_labels
from annotate.core.blindness import SYSTEM
from annotate.members.write import change_tags, deactivate_member
from annotate.models import Batch, Criterion, Sample
from annotate.projects.criteria import check_spec
from annotate.verdicts.evidence_read import evidence_of
from tests.annotate.factories import GRADE, World, finish, make_samples, make_world
from tests.database import copied_from_world
from tests.judges.building import add_labels

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    make_samples(world.project, 10)
    return world


world = copied_from_world()


@pytest.fixture
def grade(world: World) -> Criterion:
    return world.project.criteria.get(key="grade")


def batch(world: World, selection: dict[str, Any] | None = None, **more: Any) -> Batch:
    given = {"criteria": ("grade",), "annotators": [world.ann], "overlap": 1, **more}
    return world.batch(selection=selection or {"method": "all"}, **given)


def chosen(world: World, names: Iterable[str], **more: Any) -> Batch:
    """A list, as from a queue of what judge and people say otherwise."""
    return batch(world, {"method": "list", "samples": sorted(names)}, annotators=[world.ben], **more)


def label(made: Batch, *, grade: int = 4) -> Batch:
    for task in list(made.tasks.select_related("sample", "annotator").order_by("position")):
        if task.status == "pending":
            finish(task, grade=grade)
    return made


def label_elsewhere(criterion: Criterion, rater: str, *names: str) -> None:
    samples = {sample.external_id: sample for sample in criterion.project.samples.all()}
    add_labels(criterion, samples, [(name, "answer", rater, 4) for name in names])


def settled(criterion: Criterion) -> set[str]:
    """What a guarantee would rest on: settled, and with a chance."""
    found = evidence_of(criterion, reader=SYSTEM)
    return {name for name, unit in found.units if (name, unit) not in found.unsettled and name in found.chances}


def test_a_second_label_that_was_chosen_settles_nothing_that_was_drawn(world: World, grade: Criterion) -> None:
    label(batch(world, {"method": "random", "n": 6, "seed": 1}))
    drawn = set(drawn_samples(grade).chances)
    assert settled(grade) == set()
    some = sorted(drawn)[:2]
    label(chosen(world, some))
    assert settled(grade) == set()
    assert how_labelled(grade).chosen == 2
    # Reports that count single labels have all that was drawn.
    assert set(drawn_samples(grade, settled_only=False).chances) == drawn
    # A word on the whole draw leaves nothing to choose.
    count_single_labels(batch=Batch.objects.order_by("number")[0])
    assert settled(grade) == drawn


def test_nor_on_a_later_version_that_carries_both(world: World, grade: Criterion) -> None:
    made = label(batch(world, {"method": "random", "n": 6, "seed": 1}))
    some = list(made.batch_samples.values_list("sample__external_id", flat=True))[:2]
    label(chosen(world, some))
    spec, same = check_spec({**GRADE, "prompt": "How good??"}), Choices(same_meaning=True, reason="A typo.")
    new = change_criterion(actor=world.alice, project=world.project, seen=grade, spec=spec, choices=same)
    assert settled(new.criterion) == set()
    label(chosen(world, drawn_samples(new.criterion, settled_only=False).chances.keys() - set(some)))
    assert len(settled(new.criterion)) == 6


def test_a_second_file_of_chosen_labels_settles_nothing_that_was_declared(world: World, grade: Criterion) -> None:
    label_elsewhere(grade, "ext", "s1", "s2", "s3", "s4")
    declare_draw(criterion=grade, how="all", actor=world.alice)
    label_elsewhere(grade, "second", "s1", "s2")
    assert settled(grade) == set()
    label_elsewhere(grade, "second", "s3", "s4")
    assert settled(grade) == {"s1", "s2", "s3", "s4"}


def test_a_second_label_by_the_draw_itself_settles_what_was_there_before(world: World, grade: Criterion) -> None:
    label_elsewhere(grade, "ext", "s1", "s2", "s3", "s4")
    made = label(batch(world, {"method": "random", "n": 6, "seed": 3}, overlap=2, annotators=[world.ann, world.ben]))
    drawn = set(made.batch_samples.values_list("sample__external_id", flat=True))
    left = sorted({"s1", "s2", "s3", "s4"} - drawn)
    assert left == ["s1", "s2"]
    assert settled(grade) == drawn
    label_elsewhere(grade, "second", left[0])
    assert settled(grade) == drawn


@pytest.mark.parametrize("asked", ["half of them", "all", "nobody"])
def test_what_a_change_left_of_some_values_is_no_draw(world: World, grade: Criterion, asked: str) -> None:
    """A new option that only fails might be now: the passes are carried over at once, as if nobody failed anything."""
    made = batch(world, {"method": "random", "n": 6, "seed": 1}, single_labels=True)
    for place, task in enumerate(made.tasks.order_by("position")):
        finish(task, grade=4 if place % 2 else 2)
    drawn = set(drawn_samples(grade).chances)
    if asked == "nobody":
        deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    spec = check_spec({**GRADE, "options": [{"value": n} for n in range(7)]})
    new = change_criterion(
        actor=world.alice, project=world.project, seen=grade, spec=spec, choices=Choices(maybe_new=(2,))
    )
    assert new.carried == 3
    assert settled(new.criterion) == set()
    if new.batch is None:
        return
    count_single_labels(batch=new.batch)
    for task in list(new.batch.tasks.order_by("position"))[: 2 if asked == "half of them" else None]:
        finish(task, grade=2)
    if asked == "half of them":
        close_batch(batch=new.batch)
    assert settled(new.criterion) == (set() if asked == "half of them" else drawn)


def test_a_batch_in_the_order_of_import_that_its_last_person_left_is_not_finished(
    world: World, grade: Criterion
) -> None:
    made = batch(world, single_labels=True)
    for task in list(made.tasks.order_by("position"))[:6]:
        finish(task)
    deactivate_member(actor=world.alice, project=world.project, user=world.ann)
    assert not made.tasks.filter(status="pending").exists()
    assert settled(grade) == set()
    close_batch(batch=made)
    assert settled(grade) == set()


def test_a_draw_that_ended_early_and_in_which_each_expertise_had_its_people(world: World, grade: Criterion) -> None:
    """Law was labelled and medicine was not: no random part of what was drawn."""
    for sample in Sample.objects.all():
        sample.metadata = {"field": "law" if int(sample.external_id[1:]) % 2 else "medicine"}
        sample.save()
    for user, tag in ((world.ann, "law"), (world.ben, "medicine")):
        change_tags(actor=world.alice, project=world.project, user=user, tags=[tag])
    names = [f"s{n}" for n in range(1, 9)]
    made = world.batch(
        selection={"method": "list", "samples": names},
        chances=dict.fromkeys(names, (0.8, 1)),
        criteria=("grade",),
        annotators=[world.ann, world.ben],
        overlap=1,
        tag_key="field",
        single_labels=True,
    )
    for task in made.tasks.filter(annotator=world.ann):
        finish(task)
    close_batch(batch=made)
    assert settled(grade) == set()


def test_what_one_person_labelled_before_a_draw_is_stood_for_by_it(world: World, grade: Criterion) -> None:
    """Four of ten that wait for a second label: those that the draw has again would stand for themselves alone, and
    nothing for the rest."""
    label_elsewhere(grade, "ext", "s1", "s2", "s3", "s4")
    label(batch(world, {"method": "random", "n": 6, "seed": 3}, overlap=2, annotators=[world.ann, world.ben]))
    assert set(drawn_samples(grade).chances.values()) == {(0.6, 1)}
    label_elsewhere(grade, "second", "s1", "s2")
    label_elsewhere(grade, "third", "s3", "s4")
    assert drawn_samples(grade).chances == {
        **dict.fromkeys(("s1", "s2", "s3", "s4"), (1.0, 0)),
        **{name: chance for name, chance in drawn_samples(grade).chances.items() if chance == (0.6, 1)},
    }
