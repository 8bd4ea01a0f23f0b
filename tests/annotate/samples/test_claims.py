"""Editing claims before people label them: what is stored, who may not, and several people at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.http import Http404

from annotate.api.samples_serializers import EditedClaims
from annotate.batches.draws_read import unlabelled_samples
from annotate.batches.read import batch_criteria
from annotate.batches.steps import close_batch, open_batch, start_adjudication
from annotate.core.advisory import write_on_what_stands
from annotate.core.errors import Conflict, Invalid, Refusal, Stale
from annotate.core.rows import fetch_one
from annotate.core.units import live_claims, units_of
from annotate.models import AuditEntry, ClaimEdit, GoldAnswer, Label, Sample, Task, User
from annotate.projects.trail_read import TrailFilter, trail
from annotate.samples.claims_read import claims_state, in_words, tables_with_units, walk_through
from annotate.samples.claims_write import edit_claims, locked_sample
from annotate.samples.read import unit_counts
from annotate.tasks.labelling import submit_task
from annotate.tasks.read import own_task
from tests.annotate.factories import World, concurrently, finish, make_sample, make_samples, make_world, say

SPLIT = {"op": "split", "claim": 0, "at": 9}
DROP = {"op": "drop", "claim": 1}


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def sample(world: World) -> Sample:
    return make_sample(world.project)


def edit(world: World, sample: Sample, change: dict[str, Any], seen: int, user: User | None = None) -> dict[str, Any]:
    state = edit_claims(
        actor=user or world.rita, project=world.project, sample_id=sample.pk, change=change, expected_revision=seen
    )
    return EditedClaims.show(state)


def texts(sample: Sample) -> list[str]:
    sample.refresh_from_db()
    return [claim["text"] for claim in live_claims(sample)]


def test_a_change_makes_a_revision_with_its_provenance(world: World, sample: Sample) -> None:
    before = sample.claims
    state = edit(world, sample, SPLIT, 1)
    sample.refresh_from_db()
    assert (sample.claims_revision, sample.claims_source, state["revision"]) == (2, "edited", 2)
    assert texts(sample) == ["It closes at five.", "It opens", "at nine."]
    assert sample.answer == "It opens at nine. It closes at five."
    assert [(row.revision, row.change, row.claims, row.actor) for row in sample.claim_edits.order_by("revision")] == [
        (1, {"op": "imported", "source": "file"}, before, world.rita),
        (2, SPLIT, sample.claims, world.rita),
    ]
    assert [(row["revision"], row["who"]) for row in state["history"]] == [(2, "rita"), (1, None)]
    assert [claim["from"] for claim in state["claims"]] == [[], [], [0], [0]]
    # Claims have a log of their own, so the trail tells it once.
    assert [
        row.subject for row in trail(project=world.project, reader=world.alice, asked=TrailFilter(kind="claims")).rows
    ] == ["s1", "s1"]
    assert not AuditEntry.objects.filter(action__startswith="claims").exists()


def test_a_repeated_change_changes_nothing_and_another_one_is_stale(world: World, sample: Sample) -> None:
    first = edit(world, sample, SPLIT, 1)
    assert edit(world, sample, SPLIT, 1) == first
    for change, user in ((DROP, world.rita), (SPLIT, world.alice)):
        with pytest.raises(Stale) as refused:
            edit(world, sample, change, 1, user)
        assert EditedClaims.show(refused.value.details["current"]) == first
        assert refused.value.details["yours"] == change
    assert sample.claim_edits.count() == 2


def test_what_changes_nothing_makes_no_revision(world: World, sample: Sample) -> None:
    assert edit(world, sample, {"op": "edit", "claim": 0, "text": "It opens at nine."}, 1)["revision"] == 1
    assert edit(world, sample, {"op": "restore_revision", "revision": 1}, 1)["revision"] == 1
    assert not ClaimEdit.objects.exists()


def test_an_earlier_revision_comes_back(world: World, sample: Sample) -> None:
    edit(world, sample, SPLIT, 1)
    edit(world, sample, DROP, 2)
    state = edit(world, sample, {"op": "restore_revision", "revision": 1}, 3)
    assert texts(sample) == ["It opens at nine.", "It closes at five."]
    assert [claim["dropped"] for claim in state["claims"]] == [False, False, True, True]
    edit(world, sample, {"op": "restore_revision", "revision": 2}, 4)
    assert texts(sample) == ["It closes at five.", "It opens", "at nine."]
    for revision in (9, 0, "1", None):
        with pytest.raises(Invalid):
            edit(world, sample, {"op": "restore_revision", "revision": revision}, 5)


def test_checked_holds_until_the_next_change(world: World, sample: Sample) -> None:
    state = edit(world, sample, {"op": "checked"}, 1)
    assert (state["checked"], state["revision"], state["source"]) == (True, 2, "file")
    assert edit(world, sample, {"op": "checked"}, 2)["revision"] == 2
    assert edit(world, sample, DROP, 2)["checked"] is False


def test_a_batch_says_how_many_are_checked_and_which_is_next(world: World) -> None:
    make_samples(world.project, 3)
    batch = world.batch(opened=False)
    ids = list(batch.batch_samples.order_by("position").values_list("sample_id", flat=True))
    edit_claims(
        actor=world.rita, project=world.project, sample_id=ids[1], change={"op": "checked"}, expected_revision=1
    )
    walk = walk_through(batch, ids[0])
    assert walk is not None
    assert (walk.at, walk.count, walk.checked, walk.previous, walk.following) == (1, 3, 1, None, ids[1])
    assert walk.next == ids[2]
    last = walk_through(batch, ids[2])
    assert last is not None
    assert last.next == ids[0]
    assert walk_through(batch, make_sample(world.project, 9).pk) is None


@pytest.mark.parametrize("change", [None, [], "drop", {"op": "drop", "claim": float("inf")}])
def test_what_is_no_change_is_refused(change: Any, world: World, sample: Sample) -> None:
    with pytest.raises(Invalid):
        edit(world, sample, change, 1)


def test_a_sample_of_another_project_is_not_found(world: World, sample: Sample) -> None:
    with pytest.raises(Http404):
        edit_claims(actor=world.dora, project=world.other, sample_id=sample.pk, change=DROP, expected_revision=1)


# What people are at work on, and what rests on a claim, stays


def test_claims_of_a_batch_at_work_stay(world: World, sample: Sample) -> None:
    batch = world.batch(opened=False)
    edit(world, sample, SPLIT, 1)
    open_batch(batch=batch)
    for step in (None, start_adjudication):
        if step:
            step(batch=batch)
        with pytest.raises(Conflict, match="“A batch” uses these claims") as refused:
            edit(world, sample, DROP, 2, world.alice)
        assert refused.value.details["batches"][0]["number"] == batch.number
    assert claims_state(sample, user=world.alice).fixed == refused.value.message
    close_batch(batch=batch)
    assert edit(world, sample, DROP, 2)["revision"] == 3


def test_a_batch_that_asks_about_something_else_is_no_obstacle(world: World, sample: Sample) -> None:
    world.batch(criteria=["grade"])
    assert edit(world, sample, DROP, 1)["revision"] == 2


def test_what_carries_something_stays_and_the_rest_may_change(world: World, sample: Sample) -> None:
    batch = world.batch(overlap=1)
    task = batch.tasks.get()
    say(task.annotator, task, "claim:0", "support", "yes")
    close_batch(batch=batch)
    criterion = world.project.criteria.get(key="support")
    GoldAnswer.objects.create(sample=sample, unit="claim:0", criterion=criterion, value="yes")
    for change in (
        SPLIT, {"op": "drop", "claim": 0}, {"op": "merge", "claims": [0, 1]},
        {"op": "edit", "claim": 0, "text": "Other"}, {"op": "move", "claim": 0, "start": 0, "end": 8},
    ):  # fmt: skip
        with pytest.raises(Conflict, match="Claim 1 has 1 label, 1 known answer and can’t be changed") as refused:
            edit(world, sample, change, 1, world.alice)
        assert refused.value.details == {"unit": "claim:0", "carries": {"label": 1, "goldanswer": 1}}
    assert edit(world, sample, DROP, 1, world.alice)["claims"][0]["carries"] == "1 label, 1 known answer"
    edit(world, sample, {"op": "add", "text": "It has a desk."}, 2)
    edit(world, sample, {"op": "split_again"}, 3)
    assert texts(sample) == ["It opens at nine.", "It closes at five."]


def test_reviewers_learn_that_something_rests_on_a_claim_and_not_what(world: World, sample: Sample) -> None:
    """Whatever it is, in the same words, or a known answer would be told by what isn't named."""
    other = make_sample(world.project, 2)
    criterion = world.project.criteria.get(key="support")
    GoldAnswer.objects.create(sample=sample, unit="claim:0", criterion=criterion, value="yes")
    rater = world.project.raters.create(name="Xi")
    Label.objects.create(rater=rater, sample=other, unit="claim:0", criterion=criterion, value="yes")
    told = []
    for one in (sample, other):
        with pytest.raises(Conflict, match="known answers, questions or scores and can’t be") as refused:
            edit(world, one, {"op": "drop", "claim": 0}, 1)
        told.append((refused.value.message, refused.value.details, claims_state(one, user=world.rita).claims))
    assert told[0] == told[1]
    assert [claim["carries"] for claim in told[0][2]] == ["labels, verdicts, known answers, questions or scores", ""]


def test_a_batch_that_has_a_sample_only_to_measure_people_is_not_told_to_reviewers(world: World) -> None:
    known, asked = make_sample(world.project, 1), make_sample(world.project, 2, metadata={"for": "labels"})
    criterion = world.project.criteria.get(key="support")
    GoldAnswer.objects.create(sample=known, unit="claim:0", criterion=criterion, value="yes")
    selection = {"method": "filter", "filter": {"for": "labels"}}
    batch = world.batch(selection=selection, overlap=1, annotators=[world.ann], gold_share=1)
    assert batch.tasks.get(sample=known).purpose == "gold"
    told = []
    for sample in (known, asked):
        with pytest.raises(Conflict, match="A batch uses these claims") as refused:
            edit(world, sample, {"op": "drop", "claim": 1}, 1)
        told.append((refused.value.message, refused.value.details, claims_state(sample, user=world.rita).fixed))
    assert told[0] == told[1] == (told[0][2], {}, told[0][2])


def test_every_table_that_speaks_of_units_counts_and_has_a_name(world: World) -> None:
    assert set(tables_with_units()) == {"label", "verdict", "goldanswer", "score", "thread"}
    assert in_words(dict.fromkeys(tables_with_units(), 2), told=True).count("2 ") == 5


# Dropped claims are no units


def test_annotators_are_not_asked_about_a_dropped_claim(world: World, sample: Sample) -> None:
    other = make_sample(world.project, 2)
    edit(world, sample, SPLIT, 1)
    edit(world, sample, {"op": "drop", "claim": 3}, 2)
    for claim in (0, 1):
        edit(world, other, {"op": "drop", "claim": claim}, claim + 1)
    sample.refresh_from_db()
    assert units_of(sample, "claim") == ["claim:1", "claim:2"]
    support = world.project.criteria.get(key="support")
    assert unit_counts(support, ["s1", "s2"]) == {"s1": 2, "s2": 0}
    assert list(unlabelled_samples(support)) == [sample]
    batch = world.batch(overlap=1)
    asked = {progress.key: progress.expected for progress in batch_criteria(batch)}
    assert asked["support"] == 2
    task: Task = batch.tasks.get(sample=sample)
    shown = own_task(user=task.annotator, task_id=task.pk)["sample"]["claims"]
    assert [(claim["index"], claim["text"]) for claim in shown] == [(1, "It closes at five."), (2, "It opens")]
    for unit in ("claim:0", "claim:3", "claim:4"):
        with pytest.raises(Invalid, match=f"{unit} not found"):
            say(task.annotator, task, unit, "support", "yes")
    with pytest.raises(Invalid) as refused:
        submit_task(actor=task.annotator, task_id=task.pk)
    missing = [(row["unit"], row["criterion"]) for row in refused.value.details["missing"]]
    assert missing == [("claim:1", "support"), ("claim:2", "support"), ("answer", "grade")]
    finish(task)
    task.refresh_from_db()
    assert task.status == "submitted"
    assert set(sample.verdicts.filter(criterion=support).values_list("unit", flat=True)) == {"claim:1", "claim:2"}


def test_a_batch_without_any_claim_left_does_not_open(world: World, sample: Sample) -> None:
    for claim in (0, 1):
        edit(world, sample, {"op": "drop", "claim": claim}, claim + 1)
    batch = world.batch(opened=False)
    with pytest.raises(Conflict, match="no sample in this batch has one"):
        open_batch(batch=batch)


# Several at once, in real threads


@pytest.mark.django_db(transaction=True)
def test_of_two_editors_at_once_one_is_told() -> None:
    world = make_world()
    samples = make_samples(world.project, 5)
    for sample in samples:
        changes = [
            (world.rita, {"op": "drop", "claim": 0}),
            (world.alice, {"op": "add", "text": "It has a desk."}),
            (world.rita, {"op": "drop", "claim": 0}),
        ]
        replies = concurrently(*(lambda u=u, c=c, s=sample: edit(world, s, c, 1, u) for u, c in changes))
        stale = [reply for reply in replies if isinstance(reply, Stale)]
        assert all(isinstance(reply, dict | Stale) for reply in replies), replies
        sample.refresh_from_db()
        assert sample.claims_revision == 2
        # The same change of the same person twice is one change.
        assert len(stale) == (1 if sample.claims[0].get("dropped") else 2)
        assert sample.claim_edits.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_batch_opened_at_the_same_moment_shows_the_claims_as_they_stay() -> None:
    world = make_world()
    sample = make_sample(world.project)
    for round_ in range(5):
        sample.refresh_from_db()
        seen = sample.claims_revision
        batch = world.batch(overlap=1, annotators=[world.ann], opened=False)
        change = {"op": "add", "text": f"Claim number {round_}."}
        edited, opened = concurrently(
            lambda change=change, seen=seen: edit(world, sample, change, seen),
            lambda batch=batch: open_batch(batch=batch),
        )
        assert not isinstance(opened, Exception), opened
        shown = own_task(user=world.ann, task_id=batch.tasks.get().pk)["sample"]["claims"]
        was_added = any(claim["text"] == change["text"] for claim in shown)
        assert was_added == isinstance(edited, dict), edited
        assert isinstance(edited, dict | Conflict)
        close_batch(batch=batch)


@pytest.mark.django_db(transaction=True)
def test_an_edit_does_not_wait_for_the_end_of_an_import() -> None:
    world = make_world()
    sample = make_sample(world.project)
    with transaction.atomic():
        write_on_what_stands(world.project.pk)
        (reply,) = concurrently(lambda: edit(world, sample, DROP, 1))
    assert isinstance(reply, Refusal)
    assert reply.code == "busy"
    assert edit(world, sample, DROP, 1)["revision"] == 2


def test_only_the_locks_of_a_sample_are_waited_for_a_little(world: World) -> None:
    sample = make_sample(world.project)
    before = fetch_one("SHOW lock_timeout")
    with transaction.atomic():
        locked_sample(world.project, sample.pk)
        assert fetch_one("SHOW lock_timeout") == before
