"""The reviewer's queue: its order, its parts, what stands beside a unit, and how much it reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.batches.read import batch_criteria, disputed_units
from annotate.core.errors import Conflict
from annotate.labels.consensus import settle_imported
from annotate.labels.read import of_batch
from annotate.models import Batch, Rater, Task, Verdict
from annotate.models.batch import TaskStatus
from annotate.tasks.labelling import skip_task
from annotate.verdicts.read import Queue
from tests.annotate.factories import (
    World,
    decide_unit,
    finish,
    make_sample,
    make_samples,
    make_world,
    many_verdicts,
)
from tests.annotate.labels.test_consensus import imported
from tests.annotate.verdicts.test_bulk_accept import queue
from tests.plans import nodes, plan_of, rows_read


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def names(rows: Queue | list[Verdict]) -> list[str]:
    return [f"{row.sample.external_id}/{row.unit}" for row in rows]


@pytest.fixture
def disputed(world: World) -> World:
    """s1: one unit, 2 to 2 of 4. s2: two units, even. s3: two units, one of them 2-1-1. s4 is settled."""
    grade, support = world.criteria("grade", "support")
    samples = make_samples(world.project, 4)
    imported(world, samples[0], "answer", grade, 1, 1, 2, 2)
    imported(world, samples[1], "claim:1", support, "yes", "no")
    imported(world, samples[1], "claim:0", support, "yes", "no")
    imported(world, samples[2], "answer", grade, 1, 2, 3, 3)
    imported(world, samples[2], "claim:0", support, "yes", "no")
    imported(world, samples[3], "answer", grade, 5, 5)
    for criterion in (grade, support):
        settle_imported(project=world.project, criterion=criterion, needed=2)
    return world


def test_the_samples_with_the_most_to_decide_come_first_and_stay_together(disputed: World) -> None:
    assert names(queue(disputed)) == ["s2/claim:0", "s2/claim:1", "s3/claim:0", "s3/answer", "s1/answer"]
    # Votes that split more evenly come first among samples with as much to decide.
    Verdict.objects.filter(sample__external_id="s3").update(agreement=0.25)
    assert names(queue(disputed))[0] == "s3/claim:0"


def test_by_sample(disputed: World) -> None:
    found = names(queue(disputed, order="sample"))
    assert found == ["s1/answer", "s2/claim:0", "s2/claim:1", "s3/claim:0", "s3/answer"]


def test_a_sample_keeps_its_place_while_it_is_decided(disputed: World) -> None:
    first = queue(disputed)[0]
    decide_unit(disputed.rita, first, "yes")
    assert names(queue(disputed)) == ["s2/claim:1", "s3/claim:0", "s3/answer", "s1/answer"]


def test_units_beyond_nine_stand_in_their_order(world: World) -> None:
    support = world.criteria("support")[0]
    claims = [{"text": f"Claim {n}.", "start": None, "end": None} for n in range(12)]
    sample = make_sample(world.project, claims=claims)
    for n in range(12):
        imported(world, sample, f"claim:{n}", support, "yes", "no")
    settle_imported(project=world.project, criterion=support, needed=2)
    assert [row.unit for row in queue(world)] == [f"claim:{n}" for n in range(12)]


def test_what_was_reopened_comes_first(disputed: World) -> None:
    verdict = Verdict.objects.get(sample__external_id="s1")
    decide_unit(disputed.rita, verdict, 4)
    rater = Rater.objects.create(project=disputed.project, name="late")
    verdict.sample.labels.create(rater=rater, unit="answer", criterion=verdict.criterion, value=1)
    settle_imported(project=disputed.project, criterion=verdict.criterion, needed=2)
    assert names(queue(disputed))[0] == "s1/answer"
    assert names(queue(disputed, state="reopened")) == ["s1/answer"]
    assert "s1/answer" not in names(queue(disputed, state="disputed"))


def test_parts(world: World) -> None:
    make_samples(world.project, 2)
    one = world.batch(annotators=[world.ann, world.ben])
    for task in one.tasks.all():
        finish(task, support="yes", grade=1 if task.annotator == world.ann else 5)
    assert queue(world).count() == 2
    assert queue(world, criterion="grade").count() == 2
    assert queue(world, criterion="support").count() == queue(world, criterion="no-such").count() == 0
    assert queue(world, batch=one.number).count() == 2
    assert queue(world, batch=one.number + 1).count() == 0
    assert [(group.key, group.n) for group in queue(world).groups()] == [("grade", 2)]
    assert Queue(world.other, reader=world.dora).count() == 0


def test_short_of_labels(world: World) -> None:
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann))
    skip_task(actor=world.ben, task_id=batch.tasks.get(annotator=world.ben).pk, reason="Unclear.")
    assert names(queue(world, state="short")) == ["s1/claim:0", "s1/claim:1", "s1/answer"]
    assert queue(world).count() == 3
    assert queue(world, state="disputed").count() == 0


def test_a_unit_is_on_the_list_of_every_batch_that_asks_about_it(world: World) -> None:
    sample, other = make_samples(world.project, 2)
    first = world.batch(annotators=[world.ann, world.ben], selection={"method": "list", "samples": ["s1"]})
    for task in first.tasks.all():
        finish(task, grade=1 if task.annotator == world.ann else 5)
    second = world.batch(annotators=[world.chen], overlap=1, criteria=("grade",))
    for task in second.tasks.all():
        finish(task, grade=3)
    elsewhere = world.batch(annotators=[world.ben], overlap=1, criteria=("support",))
    # Carried over from the first batch to a version of the criterion that it never asked.
    support = world.criteria("support")[0]
    Verdict.objects.create(sample=other, unit="claim:0", criterion=support, batch=first, state="disputed")
    expected = {
        first: ["s1/answer", "s2/claim:0"],
        second: ["s1/answer"],
        elsewhere: ["s2/claim:0"],
    }
    assert Verdict.objects.get(sample=sample, unit="answer").batch == second
    for batch, listed in expected.items():
        assert names(queue(world, batch=batch.number, order="sample")) == listed
        disputed = of_batch(Verdict.objects.filter(state="disputed"), batch).order_by("sample_id")
        assert names(list(disputed)) == listed


def test_short_is_measured_by_the_batch_that_last_brought_votes(world: World) -> None:
    """What one batch lacked another brings; and what was enough for one is short of what the next asks."""
    make_samples(world.project, 2)
    skips = {("s1", world.ben.pk), ("s1", world.chen.pk)}
    work_through(world.batch(criteria=("grade",), overlap=3, selection=only("s1")), skips, {world.ann.pk: 1})
    assert names(queue(world, state="short")) == ["s1/answer"]
    work_through(world.batch(criteria=("grade",), overlap=1, annotators=[world.ben]), set(), {world.ben.pk: 5})
    assert names(queue(world, state="disputed")) == ["s1/answer"]
    assert names(queue(world, state="short")) == []
    # The second sample was settled by one; now three are asked, and two of them can't say.
    people = [world.ann, world.chen, world.alice]
    skips = {("s2", world.chen.pk), ("s2", world.alice.pk)}
    work_through(
        world.batch(criteria=("grade",), overlap=3, annotators=people, selection=only("s2")), skips, {world.ann.pk: 1}
    )
    assert names(queue(world, state="short")) == ["s2/answer"]


def only(name: str) -> dict[str, Any]:
    return {"method": "list", "samples": [name]}


def work_through(batch: Batch, skips: set[tuple[str, int]], grades: dict[int, int]) -> None:
    for task in batch.tasks.select_related("sample", "annotator"):
        if (task.sample.external_id, task.annotator_id) in skips:
            skip_task(actor=task.annotator, task_id=task.pk, reason="Unclear.")
        else:
            finish(task, grade=grades[task.annotator_id])


@pytest.fixture
def returned(world: World) -> Task:
    make_samples(world.project, 2)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.all():
        finish(task, support="yes", grade=1 if task.annotator == world.ann else 5)
    task: Task = batch.tasks.get(annotator=world.ann, sample__external_id="s1")
    Task.objects.filter(pk=task.pk).update(
        status=TaskStatus.RETURNED, return_message="Look again.", returned_by=world.rita
    )
    return task


def test_what_was_sent_back_waits_elsewhere(world: World, returned: Task) -> None:
    assert names(queue(world)) == ["s2/answer"]
    assert names(queue(world, state="returned")) == ["s1/answer"]
    Task.objects.filter(pk=returned.pk).update(status=TaskStatus.IN_PROGRESS)
    assert names(queue(world)) == ["s2/answer"], "until it is submitted again"
    Task.objects.filter(pk=returned.pk).update(status=TaskStatus.SUBMITTED, return_message="")
    assert queue(world).count() == 2


def test_who_has_the_sample_to_label_does_not_see_what_others_said(disputed: World) -> None:
    batch = disputed.batch(annotators=[disputed.rita], overlap=1, criteria=("grade",))
    Batch.objects.filter(pk=batch.pk).update(status="closed")
    assert queue(disputed).count() == 5
    Batch.objects.filter(pk=batch.pk).update(status="open")
    assert queue(disputed).count() == 0
    assert Queue(disputed.project, reader=disputed.alice).count() == 5
    with pytest.raises(Conflict) as refused:
        decide_unit(disputed.rita, Verdict.objects.filter(state="disputed")[0], 4)
    assert refused.value.code == "still_to_label"


def test_the_way_through_goes_round(disputed: World) -> None:
    ids = [row.pk for row in queue(disputed)]
    for at, pk in enumerate(ids):
        place = queue(disputed).place(pk)
        assert (place.waiting, place.others, place.previous, place.next) == (5, 4, ids[at - 1], ids[(at + 1) % 5])
    settled_one = Verdict.objects.get(state="settled")
    place = queue(disputed).place(settled_one.pk)
    assert (place.waiting, place.others, place.previous, place.next) == (5, 5, None, ids[0])
    only = queue(disputed, criterion="grade", order="sample")
    assert [row.sample.external_id for row in only] == ["s1", "s3"]
    assert only.place(ids[0]).next == only[0].pk


def test_the_only_one_has_no_neighbours(world: World) -> None:
    grade = world.criteria("grade")[0]
    imported(world, make_sample(world.project), "answer", grade, 1, 2)
    settle_imported(project=world.project, criterion=grade, needed=2)
    place = queue(world).place(Verdict.objects.get().pk)
    assert (place.waiting, place.others, place.previous, place.next) == (1, 0, None, None)


# A queue of 50,000


def many(world: World, count: int) -> None:
    grade = world.criteria("grade")[0]
    many_verdicts(grade, "answer", count)
    # A quarter of them in a batch.
    batch = Batch.objects.create(project=world.project, number=1, name="A", overlap=2, seed=1, status="closed")
    batch.batch_criteria.create(criterion=grade, position=0)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_batchsample (batch_id, sample_id, position, overlap, tag)"
            " SELECT %s, id, id, 2, '' FROM annotate_sample WHERE id %% 8 < 2",
            [batch.pk],
        )
        cursor.execute("VACUUM ANALYZE annotate_batchsample")
        # The plan also rests on tables that are empty or small here, and were not in tests before this one.
        cursor.execute("ANALYZE")


@pytest.mark.django_db(transaction=True)
def test_a_long_queue_is_read_from_its_index() -> None:
    """The rows themselves are touched for what is shown only: not even once per unit that waits."""
    world = make_world()
    many(world, 20_000)
    waiting, of_a_batch = queue(world), queue(world, batch=1)
    last = Verdict.objects.filter(state="disputed").latest("pk").pk
    batch = Batch.objects.get()
    reads = {
        "page": (lambda: waiting[5000:5050]),
        "place": (lambda: waiting.place(last)),
        "count": waiting.count,
        "groups": lambda: queue(world).groups(),
        "page of a batch": (lambda: of_a_batch[1000:1050]),
        "count of a batch": of_a_batch.count,
        "disputed units of a batch": lambda: disputed_units(batch),
    }
    for what, read in reads.items():
        with CaptureQueriesContext(connection) as asked:
            read()
        told = [query["sql"] for query in asked]
        sql = next(sql for sql in told if "WITH waiting AS" in sql or "COUNT(" in sql)
        plan = plan_of(sql)
        # What never ran is how units of earlier versions would be looked up; there are none here.
        ran = [node for node in nodes(plan) if node["Actual Loops"]]
        scans = [node for node in ran if node.get("Relation Name") == "annotate_verdict"]
        found = [(node["Node Type"], node.get("Index Name")) for node in scans]
        # What was decided counts for the order alone, and of samples of which something waits.
        indexes = {"verdict_waiting"} | ({"verdict_for_people"} if what.startswith(("page", "place")) else set())
        assert found == [("Index Only Scan", index) for _node, index in found], what
        assert {index for _node, index in found} == indexes, what
        for scan in scans:
            # Of a batch, what is not in it may be left out while the index is read.
            assert scan["Actual Rows"] * scan["Actual Loops"] in (10_000, 2500), what
            # Not none: some other session may keep a page from being marked as seen by all.
            assert scan["Heap Fetches"] < 500, what
        of_samples = [node for node in nodes(plan) if node.get("Relation Name") == "annotate_sample"]
        assert {node.get("Index Name") for node in of_samples} <= {"sample_abstaining"}, what
        looped = [node for node in nodes(plan) if node.get("Relation Name") and node["Actual Loops"] > 100]
        assert not looped, f"{what}: nothing is looked up once per unit"
    assert of_a_batch.count() == 2500
    with CaptureQueriesContext(connection) as asked:
        assert [group.n for group in waiting.groups()] == [waiting.count()]
    assert not asked.captured_queries, "they are counted once"
    with CaptureQueriesContext(connection) as asked:
        (progress,) = batch_criteria(batch)
    assert (progress.disputed, progress.agreed) == (2500, 2500)
    counting = next(query["sql"] for query in asked if 'FROM "annotate_verdict"' in query["sql"])
    assert rows_read(plan_of(counting), "annotate_verdict") < 6000, "of a quarter of them"


@pytest.mark.parametrize("state", ["disputed", "short", "agreed", "single"])
@pytest.mark.parametrize("name", ["rita", "ann"])
def test_open_tasks_are_never_joined(world: World, state: str, name: str) -> None:
    """Where several conditions meet, PostgreSQL expects a handful of units, and would compare each with all tasks."""
    with CaptureQueriesContext(connection) as asked:
        Queue(world.project, reader=getattr(world, name), state=state).count()
    plan = plan_of(asked[-1]["sql"], run=False)
    assert "annotate_task" in {node.get("Relation Name") for node in nodes(plan)}
    assert "annotate_task" not in {node.get("Relation Name") for node in nodes(plan, within=("Outer", "Inner"))}
