"""The queue where more waits than is sorted: it is walked by sample, and nothing is left out or shown twice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.labels.consensus import settle_imported
from annotate.models import Batch, Task, Verdict
from annotate.models.batch import TaskStatus
from annotate.verdicts.queue_sql import STATES
from annotate.verdicts.read import Queue
from tests.annotate.factories import (
    World,
    decide_unit,
    finish,
    make_samples,
    make_world,
    many_verdicts,
)
from tests.annotate.labels.test_consensus import imported
from tests.annotate.verdicts.test_bulk_accept import queue
from tests.annotate.verdicts.test_dispute_queue import names
from tests.plans import nodes


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def waiting(world: World) -> World:
    """Twelve samples with one to three units that wait, of two criteria; some are settled."""
    grade, support = world.criteria("grade", "support")
    chance = random.Random(5)
    for sample in make_samples(world.project, 12):
        for unit, criterion, (one, two) in (
            ("claim:1", support, ("yes", "no")),
            ("answer", grade, (1, 5)),
            ("claim:0", support, ("no", "yes")),
        ):
            imported(world, sample, unit, criterion, one, two if chance.random() < 0.7 else one)
    for criterion in (grade, support):
        settle_imported(project=world.project, criterion=criterion, needed=2)
    return world


def walked(world: World, **more: Any) -> Queue:
    """As of a large project, a few units at a time, and each page has time for one such part."""
    return queue(world, **{"most_sorted": 0, "stretch": 2, "seconds": -1, **more})


def pages(rows: Queue, wanted: int = 2, *, backwards: bool = False) -> Iterator[list[Verdict]]:
    at = None
    for _ in range(500):
        page = rows.after(at, wanted, backwards=backwards)
        yield page.rows
        if page.reached is None and len(page.rows) < wanted:
            return
        at = rows.position(rows.cursor(page.rows[-1]) if page.reached is None else page.reached)
        assert at is not None
    raise AssertionError("it has no end")


def whole(rows: Queue, **more: Any) -> list[int]:
    return [row.pk for page in pages(rows, **more) for row in page]


def test_by_weight_up_to_the_limit(waiting: World) -> None:
    number = queue(waiting).count()
    sorted_, by_sample = queue(waiting), queue(waiting, order="sample")
    at_limit, beyond = queue(waiting, most_sorted=number), queue(waiting, most_sorted=number - 1)
    assert sorted_.ids() != by_sample.ids()
    assert not at_limit.is_many
    assert at_limit.ids() == sorted_.ids()
    assert beyond.is_walked
    assert beyond.ids() == beyond.ids(slice(0, 500)) == by_sample.ids()
    assert beyond.ids(slice(3, 7)) == by_sample.ids()[3:7]
    assert beyond.count() == number
    # Whatever it is narrowed to, a list has the order that the whole has.
    assert queue(waiting, most_sorted=number - 1, criterion="grade").is_walked
    assert replace(beyond, state="returned").is_many
    assert not replace(beyond, state="returned").is_walked


@pytest.fixture
def of_every_sort(waiting: World) -> World:
    """Beside what is disputed: reopened, short of labels, sent back, at work, agreed, and of one label."""
    for verdict in list(queue(waiting, order="sample"))[:3]:
        decide_unit(waiting.rita, verdict, verdict.criterion.options[0]["value"])
        Verdict.objects.filter(pk=verdict.pk).update(state="reopened")
    world, project = waiting, waiting.project
    batch = world.batch(annotators=[world.ann, world.ben], selection={"method": "list", "samples": ["s5", "s6", "s7"]})
    for task in batch.tasks.filter(sample__external_id__in=("s5", "s6")):
        finish(task, support="yes", grade=1 if task.annotator == world.ann else 5)
    Task.objects.filter(batch=batch, sample__external_id="s5", annotator=world.ann).update(
        status=TaskStatus.RETURNED, return_message="Look again.", returned_by=world.rita
    )
    disputed = Verdict.objects.filter(sample__external_id="s6").latest("pk")
    Verdict.objects.filter(pk=disputed.pk).update(state="disputed", value=None, method="", votes=[], batch=batch)
    single = Verdict.objects.filter(state="settled", method="unanimous", sample__project=project).earliest("pk")
    Verdict.objects.filter(pk=single.pk).update(votes=single.votes[:1], batch=batch)
    return waiting


@pytest.mark.parametrize("state", ["", *STATES])
@pytest.mark.parametrize("narrowed", [{}, {"criterion": "support"}, {"batch": 1}, {"share": 0.5}])
def test_every_narrowing_has_the_units_that_it_had(of_every_sort: World, state: str, narrowed: dict[str, Any]) -> None:
    world = of_every_sort
    for reader in (world.rita, world.ann):
        before = Queue(world.project, reader=reader, state=state, order="sample", **narrowed)
        listed, groups = before.ids(), before.groups()
        if not narrowed and reader == world.rita:
            assert listed, "the data have some"
        rows = Queue(world.project, reader=reader, state=state, most_sorted=0, stretch=2, seconds=-1, **narrowed)
        if state == "returned":
            assert (rows.ids(), rows.count(), rows.groups()) == (listed, len(listed), groups)
            continue
        assert whole(rows) == listed
        assert whole(rows, backwards=True) == listed[::-1]
        assert (rows.ids(slice(1, 4)), rows.count()) == (listed[1:4], len(listed))
        in_time = replace(rows, seconds=60)
        assert (in_time.counted().number, in_time.counted().is_all) == (len(listed), True)
        assert in_time.groups() == groups


@pytest.mark.parametrize("seed", range(6))
def test_the_walk_visits_each_once_while_others_decide(waiting: World, seed: int) -> None:
    chance = random.Random(seed)
    rows = walked(waiting, stretch=chance.randint(1, 4), seconds=chance.choice((-1, 60)))
    left = {row.pk: row for row in queue(waiting)}
    visited: list[int] = []
    for page in pages(rows, chance.randint(1, 3)):
        visited += [row.pk for row in page]
        for pk in chance.sample(sorted(left), min(len(left), 2)):
            verdict = left.pop(pk)
            decide_unit(waiting.alice, verdict, verdict.criterion.options[0]["value"])
    assert len(visited) == len(set(visited))
    assert left.keys() <= set(visited), "what nobody decided was reached"


@pytest.mark.parametrize("seconds", [-1, 60])
def test_from_unit_to_unit(waiting: World, seconds: float) -> None:
    ids, rows = queue(waiting, order="sample").ids(), walked(waiting, seconds=seconds, stretch=6)
    for at, pk in enumerate(ids):
        place = rows.place(pk)
        assert place.previous == (ids[at - 1] if at else None)
        assert (place.next, place.further) == (ids[(at + 1) % len(ids)], "")
        if seconds > 0:
            assert (place.waiting, place.others, place.is_all) == (len(ids), len(ids) - 1, True)
        else:
            assert (0 < place.waiting < len(ids), place.is_all) == (True, False)
    # One that does not wait any more stands where it stood.
    decide_unit(
        waiting.alice, Verdict.objects.get(pk=ids[3]), Verdict.objects.get(pk=ids[3]).criterion.options[0]["value"]
    )
    place = walked(waiting, seconds=60).place(ids[3])
    assert (place.waiting, place.others) == (len(ids) - 1, len(ids) - 1)
    assert (place.previous, place.next) == (ids[2], ids[4])


def test_where_the_next_is_not_found_in_time_the_list_goes_on(waiting: World) -> None:
    first, *others = queue(waiting, order="sample")
    for verdict in others[:-1]:
        decide_unit(waiting.alice, verdict, verdict.criterion.options[0]["value"])
    Verdict.objects.filter(pk__in=[verdict.pk for verdict in others[:-1]]).update(state="reopened")
    place = walked(waiting, state="disputed", stretch=4).place(first.pk)
    assert (place.next, place.further) == (others[-1].pk, ""), "an index has what else they are"
    Verdict.objects.filter(pk__in=[verdict.pk for verdict in others[:-1]]).update(
        state="disputed", value=None, method=""
    )
    rows = walked(waiting, state="short", stretch=1)
    place = rows.place(first.pk)
    assert place.next is None
    at = rows.position(place.further)
    assert at is not None
    assert at[0] >= first.sample_id
    assert rows.after(at, 1).reached is not None


def test_the_only_one_has_no_neighbours(waiting: World) -> None:
    first, *others = queue(waiting, order="sample")
    for verdict in others:
        decide_unit(waiting.alice, verdict, verdict.criterion.options[0]["value"])
    place = queue(waiting, most_sorted=0).place(first.pk)
    assert (place.waiting, place.others, place.previous, place.next, place.further) == (1, 0, None, None, "")


def test_a_criterion_of_which_none_was_counted_in_time_has_no_number(waiting: World) -> None:
    first = queue(waiting, order="sample", criterion="grade")[0].sample
    earlier = Verdict.objects.filter(sample__lte=first).exclude(sample=first, criterion__key="grade")
    earlier.filter(state="disputed").update(state="settled", value="yes", method="majority")
    groups = walked(waiting, stretch=1, criterion="support").groups()
    assert {group.key: (group.n > 0, group.is_all) for group in groups} == {
        "grade": (True, False),
        "support": (False, False),
        "relevance": (False, False),
    }


def test_who_has_a_sample_to_label_meets_none_of_its_units(waiting: World) -> None:
    batch = waiting.batch(
        annotators=[waiting.rita], overlap=1, criteria=("grade",), selection={"method": "list", "samples": ["s2", "s3"]}
    )
    listed = names([row for page in pages(walked(waiting)) for row in page])
    assert not {name for name in listed if name.startswith(("s2/", "s3/"))}
    assert set(names(queue(waiting))) == set(listed)
    hidden = Verdict.objects.filter(sample__external_id="s2").earliest("pk")
    place = walked(waiting, seconds=60).place(hidden.pk)
    assert place.others == place.waiting == len(listed)
    Batch.objects.filter(pk=batch.pk).update(status="closed")
    assert len(whole(walked(waiting))) > len(listed)


def test_a_page_begins_at_no_other_projects_unit(waiting: World) -> None:
    (other,) = make_samples(waiting.other, 1)
    verdict = queue(waiting)[0]
    elsewhere = Verdict.objects.create(
        sample=other, unit="answer", criterion=waiting.other.criteria.all()[0], state="disputed"
    )
    rows = walked(waiting)
    assert rows.position(str(verdict.pk)) is not None
    for named in (str(elsewhere.pk), f"s{other.pk}", "9" * 30, "x", "٣", "s", ""):
        assert rows.position(named) is None


@pytest.mark.django_db(transaction=True)
def test_a_page_reads_a_part_of_the_index() -> None:
    """Of 10,001 that wait; and by the order of the index, not by all of it."""
    world = make_world()
    many_verdicts(world.criteria("grade")[0], "answer", 20_002)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    rows = queue(world)
    assert rows.is_walked
    ids = queue(world, order="sample", most_sorted=20_000).ids()
    assert len(ids) == 10_001
    at = rows.position(str(ids[5000]))
    for backwards in (False, True):
        with CaptureQueriesContext(connection) as asked:
            found = rows.after(at, 50, backwards=backwards).rows
        assert [row.pk for row in found] == (ids[4950:5000][::-1] if backwards else ids[5001:5051])
        for query in asked.captured_queries:
            if "annotate_verdict e" not in query["sql"] and "WITH waiting" not in query["sql"]:
                continue
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query["sql"])
                plan = cursor.fetchone()[0][0]["Plan"]
            ran = [node for node in nodes(plan) if node["Actual Loops"]]
            scans = [node for node in ran if node.get("Relation Name") == "annotate_verdict"]
            assert {node.get("Index Name") for node in scans} == {"verdict_waiting"}
            assert all(node["Actual Rows"] * node["Actual Loops"] <= rows.stretch + 1 for node in scans)
    assert whole(rows, wanted=3000) == ids
    assert rows.place(ids[-1]).next == ids[0]
