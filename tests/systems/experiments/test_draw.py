"""Which questions are drawn, with what chance, and to whom their answers go in which order."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from annotate.batches.draws_read import drawn_samples, draws_of
from annotate.batches.edit import edit_batch
from annotate.batches.steps import open_batch
from annotate.core.errors import Conflict
from annotate.models import AuditEntry, Batch, BatchSample, Task
from annotate.tasks.assignment import Turn, in_turn
from judges.models import GroupSide, Side
from systems.models import Experiment, ExperimentDraw
from tests.annotate.factories import World
from tests.database import copied_from_world
from tests.systems.building import refused
from tests.systems.experiments.building import create, draw
from tests.systems.experiments.conftest import QUESTIONS, SPEC
from tests.systems.experiments.conftest import compared_world as _world  # noqa: F401

Write = Callable[..., Path]

compared = copied_from_world()


@pytest.fixture
def experiment(compared: World, write: Write) -> World:
    create(write, SPEC)
    return compared


def questions_of(batch: Batch) -> set[str]:
    return set(batch.samples.values_list("group_key", flat=True))


def test_all_versions_of_a_drawn_question_go_out_with_its_chance(experiment: World) -> None:
    batch = draw(5)
    assert (batch.status, batch.selection["came"], batch.strategy) == ("open", "experiment", "balanced")
    rows = BatchSample.objects.filter(batch=batch)
    assert {(row.probability, row.stratum) for row in rows} == {(5 / QUESTIONS, 1)}
    assert Counter(batch.samples.values_list("group_key", flat=True)) == dict.fromkeys(questions_of(batch), 2)
    assert len(questions_of(batch)) == 5
    assert set(batch.criteria.values_list("key", flat=True)) == {"support", "grade"}
    entry = AuditEntry.objects.get(action="experiment.drawn")
    assert entry.details == {"batch": batch.number, "questions": 5, "samples": 10, "seed": 7}


def test_a_draw_follows_the_order_of_its_seed(experiment: World) -> None:
    first = draw(4)
    order = Experiment.objects.get().order
    assert questions_of(first) == set(order[:4])
    assert "with seed 7" in refused("draw_labels", "desk", "v2-or-v1", "--questions", 2, "--seed", 8)
    second = draw(3)
    assert questions_of(second) == set(order[4:7])
    assert Experiment.objects.get().order == order
    chance = BatchSample.objects.filter(batch=second).values_list("probability", flat=True).distinct().get()
    assert chance == pytest.approx(7 / QUESTIONS)
    assert "Only 5 questions can be drawn; 6 can’t." in refused(
        "draw_labels", "desk", "v2-or-v1", "--questions", 6, "--seed", 7
    )


def test_a_deleted_draft_is_drawn_again(experiment: World) -> None:
    draft = draw(4, "--draft")
    assert draft.status == "draft"
    drawn = questions_of(draft)
    draft.delete()
    assert not ExperimentDraw.objects.exists()
    assert questions_of(draw(4)) == drawn


def test_drawn_answers_are_on_the_side_of_systems(experiment: World) -> None:
    batch = draw(5)
    sides = GroupSide.objects.filter(project=experiment.project)
    assert set(sides.values_list("criterion_key", "group", "side")) == {
        (key, group, Side.SYSTEMS) for key in ("support", "grade") for group in questions_of(batch)
    }


def test_what_is_dev_or_test_is_not_drawn(experiment: World) -> None:
    for number, side in enumerate((Side.DEV, Side.TEST)):
        GroupSide.objects.create(project=experiment.project, criterion_key="grade", group=f"q{number}", side=side)
    said = refused("draw_labels", "desk", "v2-or-v1", "--questions", QUESTIONS, "--seed", 7)
    assert f"Only {QUESTIONS - 2} questions can be drawn" in said
    assert "dev or test" in said
    assert not Batch.objects.exists()
    batch = draw(QUESTIONS - 2)
    assert questions_of(batch).isdisjoint({"q0", "q1"})
    assert set(Experiment.objects.get().order) == questions_of(batch)


def test_no_guarantee_about_a_judge_rests_on_it(experiment: World) -> None:
    draw(5)
    (criterion,) = experiment.criteria("support")
    assert not draws_of(criterion).exists()
    assert drawn_samples(criterion).chances == {}


def test_the_same_people_get_all_versions_and_never_two_in_a_row(experiment: World) -> None:
    batch = draw(9)
    people: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    lists: dict[int, list[str]] = defaultdict(list)
    for task in Task.objects.filter(batch=batch).select_related("sample").order_by("annotator", "position"):
        people[task.sample.group_key][task.sample_id].add(task.annotator_id or 0)
        lists[task.annotator_id or 0].append(task.sample.group_key)
    for of_samples in people.values():
        first, second = of_samples.values()
        assert first == second
        assert len(first) == 2
    assert len(lists) == 3
    for groups in lists.values():
        assert all(one != other for one, other in pairwise(groups))


def test_versions_are_shuffled(experiment: World) -> None:
    batch = draw(QUESTIONS)
    firsts = Counter()
    for person in experiment.annotators:
        seen: set[str] = set()
        for task in Task.objects.filter(batch=batch, annotator=person).select_related("sample").order_by("position"):
            if task.sample.group_key not in seen:
                firsts[task.sample.pipeline_version] += 1
            seen.add(task.sample.group_key)
    assert set(firsts) == {"v1", "v2"}


def test_a_queue_could_not_promise_it(experiment: World) -> None:
    draft = draw(4, "--draft")
    edit_batch(actor=experiment.alice, batch=draft, strategy="pull")
    with pytest.raises(Conflict, match="drawn for an experiment") as error:
        open_batch(batch=draft)
    assert error.value.code == "not_together"
    assert not Task.objects.exists()


def test_without_annotators_nothing_is_drawn(experiment: World) -> None:
    experiment.project.memberships.filter(role="annotator").update(is_active=False)
    assert "no active annotators" in refused("draw_labels", "desk", "v2-or-v1", "--questions", 2, "--seed", 7)
    assert Experiment.objects.get().order == []


def test_who_labels_can_be_named(experiment: World) -> None:
    batch = draw(4, "--annotators", "ann", "--overlap", 1)
    assert list(batch.annotators.all()) == [experiment.ann]


def test_an_experiment_of_measures_has_nothing_to_label(compared: World, write: Write) -> None:
    create(write, {**SPEC, "metrics": [{"field": "cost"}], "rule": {"primary": "cost", "margin": 0}})
    assert "all are measured" in refused("draw_labels", "desk", "v2-or-v1", "--questions", 2, "--seed", 7)


def turns(*sizes: int) -> list[list[Turn]]:
    return [[Turn(100 * group + each, "") for each in range(size)] for group, size in enumerate(sizes)]


@pytest.mark.parametrize("sizes", [(2,) * 9, (3,) * 7, (1, 5, 1, 1, 1), (4, 4), (1, 1, 1, 1, 1, 4), (6, 1, 1, 1, 1, 1)])
def test_no_two_of_a_group_come_after_each_other(sizes: tuple[int, ...]) -> None:
    for seed in range(50):
        found = in_turn(turns(*sizes), random.Random(seed))
        assert sorted(found, key=lambda one: one.sample_id) == [turn for group in turns(*sizes) for turn in group]
        groups = [turn.sample_id // 100 for turn in found]
        assert all(one != other for one, other in pairwise(groups)), groups


def test_groups_are_finished_about_in_their_order() -> None:
    """So what is labelled when a batch ends early is a random part of it."""
    found = [turn.sample_id // 100 for turn in in_turn(turns(*(2,) * 20), random.Random(1))]
    finished = [group for at, group in enumerate(found) if group in found[:at]]
    assert all(abs(at - group) <= 4 for at, group in enumerate(finished))


def test_one_question_alone_cannot_be_separated() -> None:
    assert len(in_turn(turns(3), random.Random(1))) == 3
