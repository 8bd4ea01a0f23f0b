"""A batch that settles what enough of its people agree on, and leaves the rest to the reviewers."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.batches.steps import close_batch, reopen_batch, start_adjudication
from annotate.labels.consensus import settle_samples
from annotate.models import Batch, Criterion, Label, Rater, Sample, User, Verdict
from annotate.tasks.labelling import skip_task, submit_task
from annotate.verdicts.read import Queue
from tests.annotate.factories import World, finish, label_all, make_sample, make_samples, say

# Votes, share, least number of votes, and the value that settles it; None: to the queue.
TABLE: list[tuple[tuple[Any, ...], float, int, Any]] = [
    ((4,), 0.8, 1, 4),
    ((4,), 0.8, 2, None),
    ((4, 4), 0.8, 2, 4),
    ((4, 4), 1.0, 3, None),
    ((4, 2), 0.51, 2, None),
    ((4, 4, 2), 0.66, 2, 4),
    ((2, 4, 4), 0.66, 2, 4),
    ((4, 4, 2), 0.67, 2, None),
    ((4, 4, 2), 0.66, 4, None),
    ((4, 4, 4, 2), 0.75, 4, 4),
    ((4, 4, 4, 2), 0.76, 4, None),
    ((4, 4, 2, 2), 0.51, 1, None),
    ((1, 2, 3, 4), 0.51, 1, None),
    ((4, 4, 4), 1.0, 3, 4),
    ((4, 4, 2), 1.0, 3, None),
    # Where 0.55 × 20 is a little more than 11 to a computer.
    ((4,) * 11 + (2,) * 9, 0.55, 20, 4),
    ((4,) * 11 + (2,) * 9, 0.551, 20, None),
]


def threshold(world: World, share: float, votes: int, **more: Any) -> Batch:
    return world.batch(consensus="threshold", settle_share=share, settle_votes=votes, **more)


def test_votes_share_and_number(world: World) -> None:
    grade = world.criteria("grade")[0]
    raters = [Rater.objects.create(project=world.project, name=f"crowd-{number}") for number in range(20)]
    found = []
    for sample, (votes, share, least, _value) in zip(make_samples(world.project, len(TABLE)), TABLE, strict=True):
        Label.objects.bulk_create(
            Label(rater=rater, sample=sample, unit="answer", criterion=grade, value=value)
            for rater, value in zip(raters, votes, strict=False)
        )
        # The overlap of the batch, here 9, is not what this rule asks for.
        verdict = settled_as(sample, grade, threshold(world, share, least, opened=False), needed=9)
        agreement = max(votes.count(value) for value in votes) / len(votes)
        assert (verdict.agreement, len(verdict.votes)) == (pytest.approx(agreement), len(votes))
        assert (verdict.state == "settled") == (verdict.value is not None)
        settled = ("unanimous" if agreement == 1 else "majority", verdict.agreement)
        assert (verdict.method, verdict.confidence) == (settled if verdict.value is not None else ("", None))
        found.append((votes, share, least, verdict.value))
    assert found == TABLE


def settled_as(sample: Sample, criterion: Criterion, batch: Batch, *, needed: int) -> Verdict:
    settle_samples(criterion_ids=[criterion.pk], needed={sample.pk: needed}, batch_id=batch.pk)
    return Verdict.objects.get(sample=sample)


@pytest.fixture
def three(world: World) -> Batch:
    make_sample(world.project)
    return threshold(world, 0.66, 2, overlap=3)


def claims(user: User, batch: Batch, *values: str | None) -> None:
    """What an annotator says about the claims; None: can't tell."""
    task = batch.tasks.get(annotator=user)
    label_all(task, support=lambda unit: values[int(unit[-1])] or "yes")
    for number, value in enumerate(values):
        if value is None:
            say(user, task, f"claim:{number}", "support", None, seen=1, cant_tell="The contexts don't say enough.")
    submit_task(actor=user, task_id=task.pk)


def states(world: World, **of: Any) -> dict[str, tuple[str, Any]]:
    found = Verdict.objects.filter(criterion__key="support", **of).order_by("unit")
    return {verdict.unit: (verdict.state, verdict.value) for verdict in found}


def test_who_cannot_tell_has_no_vote_and_those_who_can_may_be_enough(world: World, three: Batch) -> None:
    claims(world.ann, three, "yes", "yes")
    claims(world.ben, three, "yes", None)
    assert states(world) == {}, "an annotator is still at work"
    claims(world.chen, three, None, None)
    assert states(world) == {"claim:0": ("settled", "yes"), "claim:1": ("disputed", None)}
    short = [verdict.unit for verdict in Queue(world.project, reader=world.rita, state="short")[:9]]
    assert short == ["claim:1"], "fewer votes than the rule takes"


def test_no_annotator_could_tell(world: World, three: Batch) -> None:
    for user in world.annotators:
        claims(user, three, None, "no")
    assert states(world) == {"claim:0": ("disputed", None), "claim:1": ("settled", "no")}


def test_a_skipped_task_is_no_vote(world: World, three: Batch) -> None:
    finish(three.tasks.get(annotator=world.ann))
    finish(three.tasks.get(annotator=world.ben))
    assert not Verdict.objects.exists()
    skip_task(actor=world.chen, task_id=three.tasks.get(annotator=world.chen).pk, reason="Unclear.")
    assert set(Verdict.objects.values_list("state", "method")) == {("settled", "unanimous")}


@pytest.mark.parametrize("end", [start_adjudication, close_batch])
def test_when_labelling_ends_those_who_came_may_be_enough(world: World, end: Any) -> None:
    enough, few, none = make_samples(world.project, 3)
    batch = threshold(world, 0.66, 2, overlap=3)
    for user in (world.ann, world.ben):
        finish(batch.tasks.get(annotator=user, sample=enough))
    finish(batch.tasks.get(annotator=world.ann, sample=few))
    # Said, but not submitted.
    label_all(batch.tasks.get(annotator=world.ann, sample=none))
    end(batch=batch, actor=world.alice)
    found = Verdict.objects.filter(unit="answer").values_list("sample_id", "state", "value", "batch_id")
    assert set(found) == {(enough.pk, "settled", 4, batch.pk), (few.pk, "disputed", None, batch.pk)}
    before = set(Verdict.objects.values_list("id", "revision"))
    if end is start_adjudication:
        close_batch(batch=batch)
    # Reopened, the third person's vote is weighed with the others.
    reopen_batch(batch=batch)
    finish(batch.tasks.get(annotator=world.chen, sample=enough), grade=2)
    assert set(Verdict.objects.exclude(sample=enough).values_list("id", "revision")) <= before
    late = Verdict.objects.get(sample=enough, unit="answer")
    assert (late.state, late.value, late.method, len(late.votes)) == ("settled", 4, "majority", 3)


def test_a_late_vote_is_weighed_anew(world: World, three: Batch) -> None:
    for user in world.annotators:
        finish(three.tasks.get(annotator=user))
    assert set(Verdict.objects.values_list("state", "method")) == {("settled", "unanimous")}
    # Two more people, and the rule of their batch: 3 of 5 for the claims, 4 of 5 for the answer.
    later = threshold(world, 0.7, 2, annotators=[world.rita, world.alice], overlap=2)
    finish(later.tasks.get(annotator=world.rita), support="no", grade=2)
    finish(later.tasks.get(annotator=world.alice), support="no", grade=4)
    grade = Verdict.objects.get(unit="answer")
    assert states(world) == {"claim:0": ("disputed", None), "claim:1": ("disputed", None)}
    assert (grade.state, grade.value, grade.method, grade.agreement) == ("settled", 4, "majority", 0.8)
