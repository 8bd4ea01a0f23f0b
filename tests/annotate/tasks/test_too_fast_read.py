"""Tasks that came faster than anyone reads: by what the browser measured, within the time that there was."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.batches.board_read import person_boards
from annotate.batches.criterion_change_read import Choices
from annotate.batches.relabelling import Relabelled, change_criterion
from annotate.core.blindness import SYSTEM
from annotate.models import Batch, Label, Task
from annotate.projects.criteria import check_spec
from annotate.projects.write import set_member
from annotate.tasks.labelling import submit_task
from annotate.tasks.too_fast_read import (
    Done,
    Text,
    _possibly_quick,
    _quick_among,
    _spent_with,
    spent,
    too_fast,
    too_fast_tasks,
)
from annotate.verdicts.evidence_read import evidence_of
from tests.annotate.factories import TRISTATE, World, label_all, make_batch, make_sample, say
from tests.plans import nodes, plan_of

KEYS = ("grade", "relevance")
OPENED = datetime(2026, 11, 22, 9, tzinfo=UTC)


def flagged(
    *rows: tuple[float, float | None, int], samples: Sequence[int] = (), words: int = 0, opened: Sequence[float] = ()
) -> list[int]:
    """rows: seconds from the opening to the submission, seconds measured, words. samples: those of the tasks, unless
    each has its own. words: of contexts that all samples have, and each of which is asked about. opened: when the batch
    of each was opened, unless all were at the start."""
    shared = [Text(is_context=True, digest="shared", letters=6 * words)] if words else []
    texts = {}
    done = []
    for place, (at, measured, own) in enumerate(rows):
        sample = samples[place] if samples else place
        texts[sample] = [Text(is_context=False, digest=f"answer {sample}", letters=6 * own), *shared]
        done.append(
            Done(
                id=place,
                project=1,
                annotator=1,
                sample=sample,
                with_contexts=bool(words),
                submitted_at=OPENED + timedelta(seconds=at),
                opened_at=OPENED + timedelta(seconds=opened[place] if opened else 0),
                place=place + 1,
                measured=measured,
                letters=6 * (own + words),
            )
        )
    return [task.id for task in too_fast(spent(done), texts)]


def fast_in(batch: Batch) -> list[int]:
    return sorted(too_fast_tasks(batch.tasks.values_list("pk", flat=True)).values())


def test_a_hundred_words_take_six_seconds_at_four_times_the_usual_speed() -> None:
    assert flagged((60, 6.2, 100), (120, 6.4, 100)) == [0]
    assert flagged((60, 0.9, 3), (120, 1.1, 3)) == [0]


def test_by_what_the_browser_measured() -> None:
    assert flagged((60, 7, 100), (120, 5, 100), (180, 0.2, 3), (240, 1.5, 3)) == [1, 2]


def test_a_clock_that_was_put_back_makes_nobody_too_fast() -> None:
    """The batch was opened later than the task was submitted, says the clock."""
    assert flagged((-3600, None, 100), (-3500, None, 100), opened=[0, 0]) == []


def test_what_was_read_before_needs_less() -> None:
    assert flagged((60, 30, 300), (90, 2, 300), (120, 0.5, 300), samples=[7, 7, 7]) == [2]


def test_what_was_clicked_away_was_not_read() -> None:
    assert flagged((60, 2, 300), (90, 2, 300), (120, 30, 300), (150, 2, 300), samples=[7, 7, 7, 7]) == [0, 1]


def test_contexts_that_several_samples_share_are_read_once() -> None:
    """Two versions of a pipeline answered with the same passages."""
    assert flagged((120, 70, 100), (180, 8, 100), (240, 5, 100), words=1000) == [2]


def test_nobody_spends_more_time_than_there_was() -> None:
    """A script that clicks every .2 seconds and says half a minute each time."""
    rows = [(60 + 0.2 * place, 30.0, 100) for place in range(66)]
    assert flagged(*rows) == list(range(2, 66))


def test_nobody_spends_the_time_before_a_batch_was_opened_on_it() -> None:
    rows = [(60.0, 30.0, 100)] + [(3660 + 0.2 * place, 30.0, 100) for place in range(66)]
    assert flagged(*rows, opened=[0] + [3600] * 66) == list(range(3, 67))


def test_what_was_done_without_a_network_and_came_at_once_passes() -> None:
    rows = [(600 + 0.1 * place, 30.0, 100) for place in range(20)]
    assert flagged(*rows) == []


def test_where_nothing_was_measured_it_is_the_time_between_submissions() -> None:
    assert flagged((30, None, 100), (60, None, 100), (60.2, None, 100)) == [2]


@pytest.mark.django_db
def test_the_board_counts_them_per_person_and_their_texts_decide(world: World) -> None:
    """Ann clicks, Ben reads; a Chinese answer has as many words as its characters make."""
    make_sample(world.project, 1, answer="word " * 100, claims=[])
    make_sample(world.project, 2, answer="营业时间是九点到五点" * 16, claims=[])
    batch = make_batch(world.project, [world.ann, world.ben], criteria=world.criteria("grade"))
    for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
        label_all(task)
        submit_task(actor=task.annotator, task_id=task.pk, active_seconds=0 if task.annotator == world.ann else 6)
    Label.objects.filter(rater__user=world.ann).update(active_ms=200)
    Task.objects.filter(batch=batch).update(submitted_at=OPENED + timedelta(hours=2))
    batch.opened_at = OPENED
    batch.save()
    # Six seconds are enough for 500 English letters, and not for 160 Chinese characters.
    assert fast_in(batch) == sorted([world.ann.pk, world.ann.pk, world.ben.pk])
    assert {board.user.username: board.too_fast for board in person_boards(batch)} == {"ann": 2, "ben": 1}


@pytest.mark.django_db
def test_contexts_count_where_each_of_them_is_asked_about(world: World) -> None:
    long = [{"id": None, "text": "word " * 200, "score": None}]
    make_sample(world.project, 1, contexts=long)
    for key, expected in (("grade", 0), ("relevance", 1)):
        batch = make_batch(world.project, [world.ann], criteria=world.criteria(key))
        task = Task.objects.get(batch=batch)
        label_all(task)
        Task.objects.filter(pk=task.pk).update(
            status="submitted", active_seconds=5, submitted_at=OPENED + timedelta(hours=1), started_at=OPENED
        )
        batch.opened_at = OPENED
        batch.save()
        assert len(fast_in(batch)) == expected


@pytest.mark.django_db
def test_what_was_read_in_another_batch_was_read(world: World) -> None:
    """Ann reads each sample for its grade, and answers soon afterwards what is asked about its contexts; Ben doesn't
    read them."""
    contexts = [{"id": None, "text": "word " * 400, "score": None}, {"id": None, "text": "词 " * 400, "score": None}]
    for number in (1, 2):
        make_sample(world.project, number, question="Why?", answer=f"{number} " * 300, contexts=contexts)
    batches = [make_batch(world.project, [world.ann, world.ben], criteria=world.criteria(key)) for key in KEYS]
    submitted = OPENED
    for place, batch in enumerate(batches):
        for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
            label_all(task)
            submitted += timedelta(minutes=5)
            seconds = 120 if place == 0 and task.annotator == world.ann else 3
            Task.objects.filter(pk=task.pk).update(
                status="submitted", active_seconds=seconds, submitted_at=submitted, started_at=OPENED
            )
        batch.opened_at = OPENED
        batch.save()
    assert [fast_in(batch) for batch in batches] == [[world.ben.pk] * 2] * 2


@pytest.mark.django_db
def test_chinese_contexts_that_samples_share_take_their_time(world: World) -> None:
    """Each has a passage of 800 characters, 126 seconds at the usual speed. Ann looks for her grade for ten, which is
    too short for it, and Ben takes a minute; then both click what is asked about the contexts of another sample."""
    for number in (1, 2):
        make_sample(world.project, number, contexts=[{"id": None, "text": "营业时间" * 200, "score": None}])
    for key, name, seconds in (("grade", "s1", (10, 60)), ("relevance", "s2", (3, 3))):
        batch = make_batch(world.project, [world.ann, world.ben], samples=[name], criteria=world.criteria(key))
        for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
            label_all(task)
            Task.objects.filter(pk=task.pk).update(
                status="submitted",
                active_seconds=seconds[task.annotator == world.ben],
                submitted_at=OPENED + timedelta(hours=1 + (key == "relevance")),
                started_at=OPENED,
            )
        batch.opened_at = OPENED
        batch.save()
    assert fast_in(batch) == [world.ann.pk]


@pytest.mark.django_db
def test_what_somebody_does_in_two_projects_is_told_apart(world: World) -> None:
    """Ann submits three tasks within a second, an hour after their batches were opened, and nothing was measured. Only
    the second of the first project was too fast: the other project's had an hour."""
    set_member(project=world.other, user=world.ann, role="annotator")
    given: list[int] = []
    for project, number, seconds in ((world.project, 1, 0.0), (world.project, 2, 0.5), (world.other, 1, 1.0)):
        name = make_sample(project, number, answer=f"{project.slug} {number} " + "word " * 100).external_id
        grade = list(project.criteria.filter(key="grade", is_current=True))
        batch = make_batch(project, [world.ann], samples=[name], criteria=grade, created_by=world.dora)
        task = Task.objects.get(batch=batch)
        label_all(task)
        submit_task(actor=world.ann, task_id=task.pk, active_seconds=0)
        submitted_after_an_hour(task, OPENED)
        Task.objects.filter(pk=task.pk).update(submitted_at=OPENED + timedelta(hours=1, seconds=seconds))
        given.append(task.pk)
    Label.objects.update(active_ms=None)
    assert too_fast_tasks(given) == {given[1]: world.ann.pk}


def without_unsure(world: World) -> Relabelled:
    spec = check_spec({**TRISTATE, "options": [{"value": "yes"}, {"value": "no"}]})
    (seen,) = world.criteria("support")
    return change_criterion(actor=world.alice, project=world.project, seen=seen, spec=spec, choices=Choices())


def labelled_once(world: World, second: str, *, seconds: int, active_ms: int | None) -> None:
    make_sample(world.project, answer="word " * 100)
    task = Task.objects.get(batch=make_batch(world.project, [world.ann], criteria=world.criteria("support")))
    say(world.ann, task, "claim:0", "support", "yes", active_ms=active_ms)
    say(world.ann, task, "claim:1", "support", second)
    submit_task(actor=world.ann, task_id=task.pk, active_seconds=seconds)
    submitted_after_an_hour(task, OPENED)


def submitted_after_an_hour(task: Task, opened: datetime) -> None:
    Batch.objects.filter(pk=task.batch_id).update(opened_at=opened)
    Task.objects.filter(pk=task.pk).update(submitted_at=opened + timedelta(hours=1))


@pytest.mark.django_db
def test_an_edit_of_the_criterion_clears_no_warning(world: World) -> None:
    labelled_once(world, "no", seconds=0, active_ms=200)
    changed = without_unsure(world)
    assert changed.batch is None
    assert evidence_of(changed.criterion, reader=SYSTEM).too_fast == [True, True]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("carried_ms", "again_ms", "fast"),
    [
        pytest.param(30_000, 200, True, id="what was measured of a carried label says nothing of the new task"),
        pytest.param(None, 2_000, False, id="what was read in another batch needs less"),
    ],
)
def test_what_an_edit_asks_again(world: World, carried_ms: int | None, again_ms: int, fast: bool) -> None:
    labelled_once(world, "unsure", seconds=30, active_ms=carried_ms)
    changed = without_unsure(world)
    assert changed.batch is not None
    again = Task.objects.get(batch=changed.batch)
    say(world.ann, again, "claim:1", "support", "no", active_ms=again_ms)
    submit_task(actor=world.ann, task_id=again.pk)
    submitted_after_an_hour(again, OPENED + timedelta(days=1))
    assert [board.too_fast for board in person_boards(changed.batch)] == [fast]
    assert evidence_of(changed.criterion, reader=SYSTEM).too_fast == [fast, fast]


@pytest.mark.django_db
def test_what_is_looked_at_first_leaves_out_no_quick_one(world: World) -> None:
    """Seconds at random, measured by the task, by its labels, by both or by neither; one batch is opened later."""
    rng = random.Random(1)
    for place in range(30):
        make_sample(world.project, place, answer=f"{place}" + " word" * rng.randrange(1, 200), claims=[])
    for opened in (OPENED, OPENED + timedelta(minutes=5)):
        batch = make_batch(world.project, [world.ann, world.ben], criteria=world.criteria("grade"))
        Batch.objects.filter(pk=batch.pk).update(opened_at=opened)
    for task in Task.objects.all():
        if rng.random() < 0.5:
            say(world.ann if task.annotator_id == world.ann.pk else world.ben, task, "answer", "grade", 3)
            Label.objects.filter(task=task).update(active_ms=rng.choice([500, 6000, 30000]))
        task.status, task.active_seconds = "submitted", rng.choice([0, 1, 3, 8, 40])
        task.submitted_at = OPENED + timedelta(seconds=rng.choice([rng.uniform(0, 600), 300]))
        task.save()
    given = set(Task.objects.values_list("pk", flat=True))
    quick = {row.task.id for row in _spent_with(given) if row.is_quick}
    possible = _possibly_quick(given)
    assert quick
    assert quick <= _quick_among(possible, before=3) < possible < given
    assert too_fast_tasks(given).keys() == _too_fast_of_all(given)


def test_which_were_given_is_not_looked_through_for_each_task(world: World) -> None:
    """At a million tasks it would never end."""
    make_sample(world.project, 1)
    batch = make_batch(world.project, [world.ann, world.ben])
    with CaptureQueriesContext(connection) as asked:
        fast_in(batch)
    [sql] = [query["sql"] for query in asked if "given AS" in query["sql"]]
    looked_up = [node for node in nodes(plan_of(sql, run=False)) if node.get("Parent Relationship") == "SubPlan"]
    assert not [node for node in looked_up if node.get("CTE Name") == "given"]


def _too_fast_of_all(given: set[int]) -> set[int]:
    """No two samples share a text here, so that each sample is one text; its letters less the space in between."""
    samples = {row.task.sample: row.task.letters - 1 for row in _spent_with(given, every_text=True)}
    texts = {pk: [Text(is_context=False, digest=str(pk), letters=letters)] for pk, letters in samples.items()}
    return {task.id for task in too_fast(_spent_with(given, every_text=True), texts)}
