"""What the votes settled by themselves is listed, drawn, approved and overruled."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404

from annotate.core.errors import Conflict, Stale
from annotate.models import Verdict
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import approve, decide
from annotate.verdicts.ground_truth_read import ground_truth
from annotate.verdicts.read import Queue
from tests.annotate.factories import World, decide_unit, finish, make_sample, make_samples, make_world, say

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    label_two_samples(world)
    return world


def label_two_samples(world: World) -> None:
    """Ann and Ben agree on everything but on the grade of the second."""
    make_samples(world.project, 2)
    batch = world.batch(annotators=[world.ann, world.ben])
    for task in batch.tasks.select_related("annotator", "sample", "batch"):
        differs = task.sample.external_id == "s2" and task.annotator == world.ben
        finish(task, grade=1 if differs else 4)


def agreed(world: World, **narrowed: Any) -> list[Verdict]:
    return list(Queue(world.project, reader=world.rita, state="agreed", **narrowed))


def approved(world: World, verdict: Verdict, **changes: Any) -> Verdict:
    given = {"reviewer": world.rita, "project": world.project, "verdict_id": verdict.pk, "expected_revision": 1}
    return approve(**{**given, **changes})


def test_units_that_need_no_decision_are_a_list_of_their_own(world: World) -> None:
    assert [(one.sample.external_id, one.unit) for one in agreed(world)] == [
        ("s1", "claim:0"), ("s1", "claim:1"), ("s1", "answer"), ("s2", "claim:0"), ("s2", "claim:1"),
    ]  # fmt: skip
    assert [one.unit for one in Queue(world.project, reader=world.rita)] == ["answer"]
    assert len(agreed(world, criterion="grade")) == 1
    assert len(agreed(world, batch=1)) == 5
    assert agreed(world, batch=9) == []
    world.project.show_names = True
    assert agreed(world, annotator="chen") == []
    assert len(agreed(world, annotator="ann")) == 5
    assert [(group.key, group.n) for group in Queue(world.project, reader=world.rita, state="agreed").groups()] == [
        ("support", 4),
        ("grade", 1),
    ]


def test_who_still_labels_a_sample_does_not_meet_it(world: World) -> None:
    world.batch(annotators=[world.rita], overlap=1, criteria=("grade",))
    assert agreed(world) == []
    with pytest.raises(Conflict, match="still have to label this sample"):
        approved(world, Verdict.objects.get(unit="answer", sample__external_id="s1"))


def test_a_share_is_drawn_by_the_seed_and_stays(world: World) -> None:
    for number in range(3, 43):
        make_sample(world.project, number)
    grade = world.criteria("grade")[0]
    Verdict.objects.bulk_create(
        Verdict(
            sample=sample, unit="answer", criterion=grade, state="settled", value=4, method="unanimous", confidence=1
        )
        for sample in world.project.samples.filter(verdicts=None)
    )
    drawn = agreed(world, share=0.3, seed=7)
    assert 4 <= len(drawn) <= 25
    assert {one.pk for one in drawn} < {one.pk for one in agreed(world)}
    assert agreed(world, share=0.3, seed=7) == drawn
    assert agreed(world, share=0.3, seed=8) != drawn
    assert {one.pk for one in drawn} <= {one.pk for one in agreed(world, share=0.6, seed=7)}
    # Going through them doesn't change what is to be gone through.
    approved(world, drawn[0])
    assert agreed(world, share=0.3, seed=7) == drawn[1:]


def test_approving_is_in_the_log_and_counted(world: World) -> None:
    verdict = agreed(world)[0]
    approved(world, verdict)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.method, verdict.value, verdict.decided_by) == ("settled", "unanimous", "yes", None)
    assert (verdict.approved_by, verdict.revision) == (world.rita, 2)
    assert list(verdict.events.order_by("revision").values_list("revision", "method", "actor")) == [
        (1, "unanimous", None),
        (2, "unanimous", world.rita.pk),
    ]
    assert verdict not in agreed(world)
    counted = {row["key"]: row["approved"] for row in ground_truth(world.project)}
    assert counted == {"support": 1, "grade": 0, "relevance": 0}
    # The same once more, and by a reviewer who looked before.
    assert approved(world, verdict).revision == 2
    with pytest.raises(Stale):
        approved(world, verdict, reviewer=world.alice)


def test_what_a_person_decides_is_not_approved(world: World) -> None:
    disputed = Verdict.objects.get(state="disputed")
    with pytest.raises(Conflict, match="Decide this unit instead"):
        approved(world, disputed)
    decide_unit(world.rita, disputed, 4)
    with pytest.raises(Conflict, match="Decide this unit instead"):
        approved(world, disputed, expected_revision=2)
    with pytest.raises(Http404):
        approved(world, disputed, project=world.other)


def test_overruling_takes_the_approval_back(world: World) -> None:
    verdict = agreed(world)[0]
    approved(world, verdict)
    decide(
        reviewer=world.alice, project=world.project, verdict_id=verdict.pk, value="no", reason="It does not say so.",
        expected_revision=2,
    )  # fmt: skip
    verdict.refresh_from_db()
    assert (verdict.value, verdict.method, verdict.approved_by, verdict.approved_at) == (
        "no",
        "adjudicated",
        None,
        None,
    )


def test_a_label_that_changes_takes_the_approval_back(world: World) -> None:
    verdict = agreed(world)[0]
    approved(world, verdict)
    task = verdict.sample.tasks.get(annotator=world.ben)
    reopen_task(actor=world.ben, task_id=task.pk)
    say(world.ben, task, "claim:0", "support", "no", seen=1)
    submit_task(actor=world.ben, task_id=task.pk)
    verdict.refresh_from_db()
    assert (verdict.state, verdict.approved_by, verdict.approved_at) == ("disputed", None, None)
    assert verdict.events.filter(actor=world.rita).count() == 1
