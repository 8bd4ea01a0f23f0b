from __future__ import annotations

from typing import Any

import pytest
from django.http import Http404

from annotate.core.errors import Invalid, Stale
from annotate.core.texts import MAX_COMMENT
from annotate.models import Verdict
from annotate.tasks.labelling import submit_task
from annotate.verdicts.adjudication import decide
from annotate.verdicts.disputes_read import one_dispute
from annotate.verdicts.read import Queue, one_verdict
from tests.annotate.factories import World, finish, label_all, make_sample, make_world, say, stored


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    make_sample(world.project)
    batch = world.batch(annotators=[world.ann, world.ben])
    for person, grade in ((world.ann, 1), (world.ben, 5)):
        task = batch.tasks.get(annotator=person)
        say(person, task, "answer", "grade", 3)
        say(person, task, "answer", "grade", grade, seen=1, comment=f"{grade} it is")
        for unit in ("claim:0", "claim:1"):
            say(person, task, unit, "support", "yes")
        submit_task(actor=person, task_id=task.pk)
    return world


@pytest.fixture
def verdict(world: World) -> Verdict:
    return Verdict.objects.get(unit="answer")


def decided(world: World, verdict: Verdict, **changes: Any) -> Verdict:
    fields = {
        "reviewer": world.rita,
        "project": world.project,
        "verdict_id": verdict.pk,
        "value": 5,
        "reason": "Ben is right.",
        "expected_revision": 1,
    }
    return decide(**{**fields, **changes})


def test_deciding(world: World, verdict: Verdict) -> None:
    assert list(Queue(world.project, reader=world.rita)) == [verdict]
    decided(world, verdict, value="5.0", reason="  Ben is right.\n")
    verdict.refresh_from_db()
    assert (verdict.state, verdict.method, verdict.value) == ("settled", "adjudicated", 5)
    assert (verdict.reason, verdict.decided_by, verdict.revision) == ("Ben is right.", world.rita, 2)
    assert verdict.confidence == 0.5
    assert [vote["value"] for vote in verdict.votes] == [1, 5], "the votes stay as they were"
    assert not Queue(world.project, reader=world.rita).count()


def test_a_value_that_no_annotator_gave(world: World, verdict: Verdict) -> None:
    assert decided(world, verdict, value=3).confidence == 0.0


@pytest.mark.parametrize("reason", ["", " \n", None, 5, ["so"], "a\x00", "\ud800", "r" * (MAX_COMMENT + 1)])
def test_without_a_reason(world: World, verdict: Verdict, reason: Any) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        decided(world, verdict, reason=reason)
    assert (refused.value.status, refused.value.code) == (422, "no_reason")
    assert stored() == before


@pytest.mark.parametrize("value", [None, "", 6, True, "five", [5], {"value": 5}, 10**400])
def test_a_value_that_is_no_option(world: World, verdict: Verdict, value: Any) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        decided(world, verdict, value=value)
    assert (refused.value.status, refused.value.code) == (422, "not_an_option")
    assert stored() == before


def test_a_repeat_is_harmless_and_another_decision_is_stale(world: World, verdict: Verdict) -> None:
    decided(world, verdict)
    before = stored()
    assert decided(world, verdict).revision == 2
    for changes in ({"value": 1}, {"reason": "Ann is right."}, {"reviewer": world.alice}, {"expected_revision": 7}):
        with pytest.raises(Stale) as refused:
            decided(world, verdict, **changes)
        assert refused.value.status == 412
        assert refused.value.details["current"].value == 5
        assert refused.value.details["yours"].keys() == {"value", "reason"}
    assert stored() == before


def test_votes_that_changed_since_the_reviewer_looked(world: World, verdict: Verdict) -> None:
    finish(world.batch(annotators=[world.chen], overlap=1).tasks.get(), grade=1)
    with pytest.raises(Stale) as refused:
        decided(world, verdict)
    assert refused.value.details["current"].revision == 2


def test_another_projects_unit_is_not_there(world: World, verdict: Verdict) -> None:
    before = stored()
    with pytest.raises(Http404) as hidden:
        decided(world, verdict, project=world.other, reviewer=world.dora)
    with pytest.raises(Http404) as absent:
        decided(world, verdict, verdict_id=10**12)
    assert str(hidden.value) == str(absent.value)
    with pytest.raises(Http404):
        one_verdict(world.other, verdict.pk, reader=world.dora)
    assert not Queue(world.other, reader=world.dora).count()
    assert stored() == before


def test_the_labels_side_by_side_name_no_annotator(world: World, verdict: Verdict) -> None:
    shown = one_dispute(world.project, verdict.pk, reader=world.rita, named=False).labels
    assert [(label.who, label.value, label.comment) for label in shown] == [
        ("Annotator A", 1, "1 it is"),
        ("Annotator B", 5, "5 it is"),
    ]
    assert not any(label.changed for label in shown)
    assert "ann" not in {label.who for label in shown}


def test_a_label_in_work_elsewhere_is_not_shown(world: World, verdict: Verdict) -> None:
    label_all(world.batch(annotators=[world.chen], overlap=1).tasks.get(), grade=4)
    assert len(one_dispute(world.project, verdict.pk, reader=world.rita, named=False).labels) == 2
