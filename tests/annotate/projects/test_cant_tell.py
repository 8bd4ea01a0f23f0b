"""“Can't tell” is an answer to the question, and no vote."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

from annotate.core.errors import Conflict, Invalid, Stale
from annotate.models import Label, LabelEvent, Task, Verdict
from annotate.projects.criteria import add_criteria, check_spec
from annotate.tasks.labelling import submit_task
from annotate.tasks.read import own_task
from annotate.verdicts.disputes_read import one_dispute
from annotate.verdicts.rating_codes_read import seconds_of
from tests.annotate.factories import TRISTATE, World, decide_unit, label_all, make_sample, say, stored

UNSURE = {"unit": "claim:0", "criterion": "support", "value": None, "cant_tell": "The contexts don't say enough."}


@pytest.fixture
def task(world: World) -> Task:
    make_sample(world.project)
    return world.batch(annotators=[world.ann, world.ben]).tasks.get(annotator=world.ann)


def other(task: Task) -> Task:
    return task.batch.tasks.exclude(pk=task.pk).select_related("annotator", "batch", "sample").get()


def test_it_is_stored_logged_and_shown(world: World, task: Task) -> None:
    saved = say(world.ann, task, **{**UNSURE, "cant_tell": "  No way. "}, comment="c", active_ms=1500)
    assert (saved["value"], saved["cant_tell"], saved["revision"]) == (None, "No way.", 1)
    assert (Label.objects.get().cant_tell, LabelEvent.objects.get().cant_tell) == ("No way.", "No way.")
    shown = own_task(user=world.ann, task_id=task.pk)["labels"][0]
    assert (shown["value"], shown["cant_tell"], shown["active_ms"]) == (None, "No way.", 1500)


def test_it_is_taken_back_and_a_value_takes_its_place(world: World, task: Task) -> None:
    say(world.ann, task, **UNSURE)
    assert say(world.ann, task, "claim:0", "support", "yes", seen=1)["cant_tell"] == ""
    say(world.ann, task, **UNSURE, seen=2)
    assert say(world.ann, task, "claim:0", "support", None, seen=3)["cant_tell"] == ""
    assert list(LabelEvent.objects.order_by("revision").values_list("cant_tell", flat=True)) == [
        UNSURE["cant_tell"], "", UNSURE["cant_tell"], "",
    ]  # fmt: skip


def test_only_where_the_criterion_takes_it(world: World) -> None:
    add_criteria(project=world.project, specs=[{**TRISTATE, "cant_tell": False}])
    make_sample(world.project)
    task = world.batch(annotators=[world.ann], overlap=1).tasks.get()
    before = stored()
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, **UNSURE)
    assert refused.value.code == "cant_tell_off"
    assert stored() == before
    asked = {
        criterion["key"]: criterion["cant_tell"] for criterion in own_task(user=world.ann, task_id=task.pk)["criteria"]
    }
    assert asked == {"support": False, "grade": True}


def test_the_built_in_criterion_with_such_an_option_does_without() -> None:
    assert check_spec("correct")["cant_tell"] is False
    assert check_spec("support")["cant_tell"] is True


def test_a_repeat_and_a_stale_edit(world: World, task: Task) -> None:
    key = uuid.uuid4()
    first = say(world.ann, task, **UNSURE, key=key)
    assert say(world.ann, task, **UNSURE, key=key) == first
    with pytest.raises(Invalid, match="Idempotency-Key was used"):
        say(world.ann, task, **{**UNSURE, "cant_tell": "Another reason."}, key=key)
    with pytest.raises(Stale) as stale:
        say(world.ann, task, **{**UNSURE, "cant_tell": "Another reason."})
    assert stale.value.details["current"]["cant_tell"] == UNSURE["cant_tell"]
    assert stale.value.details["yours"]["cant_tell"] == "Another reason."
    assert LabelEvent.objects.count() == 1


def test_it_completes_a_task_and_a_comment_does_not(world: World, task: Task) -> None:
    label_all(task)
    say(world.ann, task, "claim:0", "support", None, seen=1, comment="hm")
    with pytest.raises(Invalid, match="1 answer"):
        submit_task(actor=world.ann, task_id=task.pk)
    say(world.ann, task, **UNSURE, seen=2)
    submit_task(actor=world.ann, task_id=task.pk)
    with pytest.raises(Conflict, match="already submitted"):
        say(world.ann, task, "claim:0", "support", "yes", seen=3)


def test_it_is_no_vote_and_the_unit_goes_to_the_reviewer(world: World, task: Task) -> None:
    """One could not tell: too few votes. None could: no votes at all."""
    for one in (task, other(task)):
        label_all(one)
        say(one.annotator, one, "claim:1", "support", None, seen=1, cant_tell="Broken text.")
    say(world.ann, task, **UNSURE, seen=1)
    for one in (task, other(task)):
        submit_task(actor=one.annotator, task_id=one.pk)
    verdicts = {verdict.unit: verdict for verdict in Verdict.objects.all()}
    assert {unit: (verdict.state, len(verdict.votes)) for unit, verdict in verdicts.items()} == {
        "claim:0": ("disputed", 1), "claim:1": ("disputed", 0), "answer": ("settled", 2),
    }  # fmt: skip
    shown = one_dispute(world.project, verdicts["claim:0"].pk, reader=world.rita, named=False).labels
    assert [(one.who, one.cant_tell) for one in shown] == [
        ("Annotator A", UNSURE["cant_tell"]), ("Annotator B", ""),
    ]  # fmt: skip
    nobody = one_dispute(world.project, verdicts["claim:1"].pk, reader=world.rita, named=False).labels
    assert [(one.value, bool(one.cant_tell)) for one in nobody] == [(None, True), (None, True)]
    decided = decide_unit(world.rita, verdicts["claim:1"], "no", "I looked.")
    assert (decided.state, decided.confidence) == ("settled", None)


def test_measured_time_only_grows_and_beats_the_gaps(world: World, task: Task) -> None:
    for revision, milliseconds in enumerate([2000, 1000, None, 7500]):
        say(world.ann, task, "claim:0", "support", "yes", seen=revision, active_ms=milliseconds)
    say(world.ann, task, "claim:1", "support", "yes")
    label = Label.objects.get(unit="claim:0")
    assert label.active_ms == 7500
    assert list(seconds_of(label.criterion, np.array([label.pk]))) == [7.5]
    assert Label.objects.get(unit="claim:1").active_ms is None
