from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.http import Http404
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from annotate.api import batches_serializers as shapes
from annotate.batches.read import batch_criteria, left_out
from annotate.batches.sample_choice import choose_samples
from annotate.batches.steps import close_batch, delete_batch, open_batch, reopen_batch, start_adjudication
from annotate.batches.write import create_batch, plan_batch
from annotate.core.errors import Conflict, Invalid
from annotate.models import Batch, Sample, Task, User, Verdict
from annotate.projects.read import batches_of
from annotate.projects.write import remove_member
from annotate.tasks.assignment import Seats, assign
from annotate.tasks.labelling import skip_task
from tests.annotate.factories import World, finish, make_batch, make_sample, make_samples, say
from tests.annotate.labels.test_consensus import imported

# Choosing


def chosen(world: World, selection: dict[str, Any]) -> list[str]:
    keys = choose_samples(project=world.project, selection=selection).keys
    return [Sample.objects.get(pk=key).external_id for key in keys]


@pytest.fixture
def ten(world: World) -> World:
    for number in range(1, 11):
        make_sample(
            world.project,
            number,
            metadata={
                "lang": "en" if number % 2 else "zh",
                "n": number,
                "ok": number < 3,
                "created_by__password__startswith": "p",
                "_connector": "OR 1=1",
            },
            pipeline_version="v1" if number < 6 else "v2",
        )
    make_sample(world.other, 99, metadata={"lang": "en"})
    return world


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [
        ({"method": "all"}, range(1, 11)),
        ({"method": "filter", "filter": {"lang": "zh"}}, range(2, 11, 2)),
        ({"method": "filter", "filter": {"lang": "en", "ok": True}}, [1]),
        ({"method": "filter", "filter": {"n": 3}}, [3]),
        ({"method": "filter", "filter": {"n": 3.0}}, [3]),
        ({"method": "filter", "filter": {"n": "3"}}, []),
        ({"method": "filter", "filter": {"pipeline_version": "v2"}}, range(6, 11)),
        ({"method": "filter", "filter": {"lang": "zh", "pipeline_version": "v1"}}, [2, 4]),
        # Names that Django would take for lookups are names of metadata and nothing else.
        ({"method": "filter", "filter": {"created_by__password__startswith": "p"}}, range(1, 11)),
        ({"method": "filter", "filter": {"created_by__password__startswith": "q"}}, []),
        ({"method": "filter", "filter": {"project__created_by__password__startswith": "m"}}, []),
        ({"method": "filter", "filter": {"_connector": "OR 1=1"}}, range(1, 11)),
        ({"method": "filter", "filter": {"_connector": "OR"}}, []),
        ({"method": "filter", "filter": {"_negated": True}}, []),
        ({"method": "filter", "filter": {"external_id": "s1"}}, []),
        ({"method": "filter", "filter": {"lang__startswith": "z"}}, []),
        ({"method": "filter", "filter": {"'; DROP TABLE annotate_sample; --": "%s"}}, []),
    ],
)
def test_choosing_by_metadata(ten: World, selection: dict[str, Any], numbers: Any) -> None:
    assert chosen(ten, selection) == [f"s{number}" for number in numbers]


def test_a_random_choice_can_be_made_again_from_what_is_stored(ten: World) -> None:
    choice = choose_samples(project=ten.project, selection={"method": "random", "n": 4})
    assert choice.stored.keys() == {"method", "n", "seed", "came"}
    assert choose_samples(project=ten.project, selection=choice.stored) == choice
    assert choice.keys == sorted(choice.keys)
    assert len(set(choice.keys)) == 4
    others = {
        tuple(choose_samples(project=ten.project, selection={**choice.stored, "seed": seed}).keys) for seed in range(20)
    }
    assert len(others) > 5


def test_a_random_choice_among_the_filtered(ten: World) -> None:
    names = chosen(ten, {"method": "random", "n": 5, "seed": 3, "filter": {"lang": "zh"}})
    assert sorted(names) == sorted(f"s{number}" for number in range(2, 11, 2))


def test_a_list_is_of_the_projects_own_samples_in_import_order(ten: World) -> None:
    assert chosen(ten, {"method": "list", "samples": ["s7", "s2", "s10", "s2"]}) == ["s2", "s7", "s10"]
    batch = ten.batch(selection={"method": "list", "samples": ["s3", "s1"], "note": "They look odd."}, opened=False)
    # The ids stand in the batch's own rows, once.
    assert batch.selection == {"method": "list", "n": 2, "note": "They look odd.", "came": "by_hand"}
    assert [row.sample.external_id for row in batch.batch_samples.all()] == ["s1", "s3"]
    # s99 is a sample of another project.
    with pytest.raises(Invalid, match="Sample “s11” and 1 more not found"):
        chosen(ten, {"method": "list", "samples": ["s1", "s99", "s11"]})
    with pytest.raises(Invalid, match="and 69999 more"):
        chosen(ten, {"method": "list", "samples": [f"x{number}" for number in range(70_000)]})


@pytest.mark.parametrize(
    ("selection", "code"),
    [
        ({"method": "list"}, "bad_samples"), ({"method": "list", "samples": "s1"}, "bad_samples"),
        ({"method": "list", "samples": [1]}, "bad_samples"), ({"method": "list", "samples": []}, "no_samples"),
        ({"method": "list", "samples": ["\ud800"]}, "bad_text"),
        ({"method": "list", "samples": ["s1"], "note": 5}, "bad_note"),
        ({"method": "list", "samples": ["s1"], "note": "x" * 501}, "bad_note"),
        ({"method": "list", "samples": ["s1"], "filter": {"lang": "zh"}}, "bad_selection"),
        ({"method": "all", "samples": ["s1"]}, "bad_selection"),
        ({"method": "best"}, "bad_selection"), ({"method": ["all"]}, "bad_selection"),
        ({"method": None}, "bad_selection"),
        ({"method": "all", "_connector": "OR"}, "bad_selection"),
        ({"method": "all", "project__slug": "x"}, "bad_selection"),
        ({"method": "filter"}, "bad_filter"), ({"method": "filter", "filter": {}}, "bad_filter"),
        ({"method": "filter", "filter": ["lang"]}, "bad_filter"),
        ({"method": "filter", "filter": "lang"}, "bad_filter"),
        ({"method": "filter", "filter": {"lang": ["zh"]}}, "bad_filter"),
        ({"method": "filter", "filter": {"lang": None}}, "bad_filter"),
        ({"method": "filter", "filter": {"lang": {"a": 1}}}, "bad_filter"),
        ({"method": "filter", "filter": {"lang": "\x00"}}, "bad_text"),
        ({"method": "filter", "filter": {"\ud800": "a"}}, "bad_text"),
        ({"method": "filter", "filter": {"n": float("inf")}}, "bad_number"),
        ({"method": "random"}, "bad_n"), ({"method": "random", "n": 0}, "bad_n"),
        ({"method": "random", "n": 11}, "bad_n"),
        ({"method": "random", "n": True}, "bad_n"), ({"method": "random", "n": "3"}, "bad_n"),
        ({"method": "random", "n": 2.0}, "bad_n"),
        ({"method": "random", "n": 2, "seed": -1}, "bad_seed"), ({"method": "random", "n": 2, "seed": "x"}, "bad_seed"),
        ({"method": "random", "n": 2, "seed": True}, "bad_seed"),
        ({"method": "random", "n": 2, "seed": 2**31}, "bad_seed"),
    ],
)  # fmt: skip
def test_a_bad_choice(ten: World, selection: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        ten.batch(selection=selection)
    assert refused.value.code == code
    assert not Batch.objects.exists()


# Making


def test_numbers_count_up_and_are_the_projects_own(world: World) -> None:
    make_sample(world.project)
    assert [world.batch(opened=False).number for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": "  "}, "bad_name"), ({"name": "n" * 201}, "bad_name"), ({"name": "a\x00"}, "bad_name"),
        ({"overlap": 0}, "bad_overlap"), ({"overlap": True}, "bad_overlap"), ({"overlap": "2"}, "bad_overlap"),
        ({"overlap": 2.0}, "bad_overlap"), ({"overlap": 4}, "too_few_annotators"),
        ({"overlap": 10**30}, "too_few_annotators"),
        ({"annotators": []}, "too_few_annotators"), ({"criteria": []}, "no_criteria"),
        ({"seed": "x"}, "bad_seed"), ({"seed": -1}, "bad_seed"), ({"seed": 2**80}, "bad_seed"),
        ({"seed": True}, "bad_seed"),
        ({"selection": {"method": "filter", "filter": {"no": "such"}}}, "no_samples"),
    ],
)  # fmt: skip
def test_a_bad_batch(ten: World, changes: dict[str, Any], code: str) -> None:
    fields = {
        "name": "B",
        "criteria": ten.criteria("grade"),
        "annotators": ten.annotators,
        "overlap": 2,
        "selection": {"method": "all"},
    }
    with pytest.raises(Invalid) as refused:
        create_batch(project=ten.project, **{**fields, **changes})
    assert refused.value.code == code
    assert not Batch.objects.exists()


def test_a_batch_is_due_today_or_later(world: World) -> None:
    make_sample(world.project)
    today = timezone.localdate()

    def make(due: int) -> Batch:
        return make_batch(world.project, [world.ann], due_date=today + timedelta(days=due), opened=False)

    for due in (0, 1, 400):
        assert make(due).due_date == today + timedelta(days=due)
    for due in (-1, -400):
        with pytest.raises(Invalid, match=rf"has passed; today is {today} \(UTC\)") as refused:
            make(due)
        assert refused.value.code == "past_due_date"
    assert Batch.objects.count() == 3


def test_only_the_projects_own_criteria_and_active_members(world: World) -> None:
    make_sample(world.project)
    foreign = list(world.other.criteria.all())
    with pytest.raises(Invalid, match="not a current criterion"):
        make_batch(world.project, world.annotators, overlap=1, criteria=foreign)
    with pytest.raises(Invalid, match="charlie is not an active member"):
        world.batch(annotators=[world.ann, world.charlie])
    User.objects.filter(pk=world.ben.pk).update(is_active=False)
    with pytest.raises(Invalid, match="ben is not an active member"):
        world.batch()


# Assigning


@given(samples=st.integers(0, 60), people=st.integers(1, 9), overlap=st.integers(1, 9), seed=st.integers(0, 2**31 - 1))
def test_the_assignment_is_balanced_complete_and_can_be_made_again(
    samples: int, people: int, overlap: int, seed: int
) -> None:
    overlap = min(overlap, people)
    everybody = list(range(100, 100 + people))
    wanted, none = [Seats(overlap, everybody)] * samples, dict.fromkeys(everybody, 0)
    plan = assign(wanted, none, random.Random(seed))
    assert len(plan) == samples
    assert all(len(set(who)) == len(who) == overlap for who in plan)
    load = Counter(dict.fromkeys(everybody, 0)) + Counter(person for who in plan for person in who)
    loads = [load[person] for person in everybody]
    assert max(loads) - min(loads) <= 1
    assert plan == assign(wanted, none, random.Random(seed))


def test_every_pair_comes_to_share_samples() -> None:
    people = [1, 2, 3, 4, 5]
    plan = assign([Seats(2, people)] * 200, dict.fromkeys(people, 0), random.Random(1))
    assert len({frozenset(who) for who in plan}) == 10


def test_opening_makes_the_tasks(world: World) -> None:
    samples = make_samples(world.project, 10)
    batch = world.batch(overlap=2, seed=7)
    tasks = list(Task.objects.filter(batch=batch))
    assert Counter(task.sample_id for task in tasks) == {sample.pk: 2 for sample in samples}
    assert len({(task.sample_id, task.annotator_id) for task in tasks}) == len(tasks) == 20
    loads = Counter(task.annotator_id for task in tasks)
    assert max(loads.values()) - min(loads.values()) <= 1
    for person in world.annotators:
        mine = batch.tasks.filter(annotator=person).order_by("position")
        assert [task.position for task in mine] == list(range(len(mine)))
        assert all(a.sample_id < b.sample_id for a, b in pairwise(mine))
    again = world.batch(overlap=2, seed=7)
    assert assigned(again) == assigned(batch)
    assert {tuple(assigned(world.batch(overlap=2, seed=seed))) for seed in range(8)} != {tuple(assigned(batch))}


def assigned(batch: Batch) -> list[tuple[int, int]]:
    return sorted(batch.tasks.values_list("sample_id", "annotator_id"))


@pytest.mark.parametrize("criterion", ["support", "relevance"])
def test_a_batch_that_asks_about_nothing_does_not_open(world: World, criterion: str) -> None:
    make_samples(world.project, 2, claims=[], contexts=[])
    batch = world.batch(criteria=[criterion, "grade"], opened=False)
    with pytest.raises(Conflict, match=f"“{criterion}” applies to each") as refused:
        open_batch(batch=batch)
    assert refused.value.code == "nothing_to_ask"
    batch.refresh_from_db()
    assert (batch.status, batch.tasks.count()) == ("draft", 0)


def test_one_sample_with_something_to_ask_is_enough(world: World) -> None:
    make_sample(world.project, 1, claims=[])
    make_sample(world.project, 2)
    assert world.batch().status == "open"


def test_an_annotator_who_left_before_it_opened(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(opened=False)
    remove_member(project=world.project, user=world.ben)
    with pytest.raises(Invalid, match="ben is not an active member"):
        open_batch(batch=batch)
    assert not batch.tasks.exists()


# States

STEPS: dict[str, Callable[..., Any]] = {
    "open": open_batch,
    "adjudicate": start_adjudication,
    "close": close_batch,
    "reopen": reopen_batch,
}
ALLOWED = {
    ("draft", "open"): "open",
    ("open", "adjudicate"): "adjudicating",
    ("open", "close"): "closed",
    ("adjudicating", "close"): "closed",
    ("adjudicating", "reopen"): "open",
    ("closed", "reopen"): "open",
}
ROAD = {"draft": [], "open": ["open"], "adjudicating": ["open", "adjudicate"], "closed": ["open", "close"]}


@pytest.mark.parametrize("status", ROAD)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_from_every_state(world: World, status: str, step: str) -> None:
    make_sample(world.project)
    batch = world.batch(opened=False)
    for taken in ROAD[status]:
        STEPS[taken](batch=batch)
    batch.refresh_from_db()
    before = {**vars(batch), "_state": None, "tasks": batch.tasks.count()}
    expected = ALLOWED.get((status, step))
    if expected:
        STEPS[step](batch=batch)
        batch.refresh_from_db()
        assert batch.status == expected
        assert (batch.closed_at is not None) == (expected == "closed")
    else:
        with pytest.raises(Conflict) as refused:
            STEPS[step](batch=batch)
        assert refused.value.code == "wrong_state"
        assert "Batch 1 is" in refused.value.message
        batch.refresh_from_db()
        assert {**vars(batch), "_state": None, "tasks": batch.tasks.count()} == before


def test_reopening_goes_on_where_it_was(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(overlap=1, annotators=[world.ann])
    say(world.ann, batch.tasks.get(), "answer", "grade", 3)
    close_batch(batch=batch)
    with pytest.raises(Conflict, match="is closed"):
        say(world.ann, batch.tasks.get(), "answer", "grade", 4, seen=1)
    reopen_batch(batch=batch)
    assert say(world.ann, batch.tasks.get(), "answer", "grade", 4, seen=1)["revision"] == 2


def test_a_batch_with_labels_can_not_be_deleted(world: World) -> None:
    make_sample(world.project)
    batch = world.batch()
    finish(batch.tasks.first())
    with pytest.raises(Conflict, match="has 3 labels") as refused:
        delete_batch(batch=batch)
    assert refused.value.details == {"labels": 3}
    assert batch.tasks.count() == 2


def test_a_batch_whose_people_all_skipped_leaves_the_verdicts_from_elsewhere(world: World) -> None:
    sample = make_sample(world.project)
    imported(world, sample, "answer", world.criteria("grade")[0], 4, 4)
    batch = world.batch(annotators=[world.ann], overlap=1)
    skip_task(actor=world.ann, task_id=batch.tasks.get().pk, reason="Unclear.")
    verdict = Verdict.objects.get()
    assert verdict.batch == batch
    delete_batch(batch=batch)
    verdict.refresh_from_db()
    assert (verdict.batch, verdict.value) == (None, 4)


@pytest.mark.parametrize("status", ROAD)
def test_a_batch_without_labels_can(world: World, status: str) -> None:
    make_sample(world.project)
    batch = world.batch(opened=False)
    for taken in ROAD[status]:
        STEPS[taken](batch=batch)
    delete_batch(batch=batch)
    assert not Batch.objects.exists()
    assert not Task.objects.exists()
    for step in (*STEPS.values(), delete_batch):
        with pytest.raises(Http404):
            step(batch=batch)


def test_listing_batches_asks_the_same_however_many(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_sample(world.project)
    for _ in range(6):
        world.batch(opened=False)
    with django_assert_max_num_queries(3) as captured:
        listed = [shapes.Batch.show(batch) for batch in batches_of(world.project)]
    assert isinstance(captured, CaptureQueriesContext)
    assert [batch["number"] for batch in listed] == [6, 5, 4, 3, 2, 1]
    assert listed[0] == shapes.Batch.show(Batch.objects.get(number=6))
    assert (listed[0]["samples"], listed[0]["criteria"]) == (1, ["support", "grade"])


def test_the_plan_counts_the_tasks_that_opening_makes(world: World) -> None:
    for number in range(1, 21):
        make_sample(world.project, number, abstained=number % 2 == 0)
    for seed in range(5):
        asked: dict[str, Any] = {
            "criteria": world.criteria("support"), "annotators": world.annotators, "overlap": 2, "overlap_share": 0.5,
            "selection": {"method": "all"},
        }  # fmt: skip
        plan = plan_batch(project=world.project, **asked)
        batch = create_batch(project=world.project, name="B", seed=seed, created_by=world.alice, **asked)
        open_batch(batch=batch)
        assert batch.tasks.count() == plan.tasks == 15
        assert left_out(batch) == plan.left_out == 10
        (support,) = batch_criteria(batch)
        assert support.expected == 30
