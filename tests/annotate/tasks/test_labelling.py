"""Done-when 7 of issue 2, and the promises about revisions."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.http import Http404

from annotate.batches.steps import close_batch, start_adjudication
from annotate.core.errors import Conflict, Invalid, Refusal, Stale
from annotate.core.texts import MAX_COMMENT
from annotate.models import Label, LabelEvent, Task, Verdict
from annotate.projects.write import remove_member, set_member
from annotate.tasks.label_changes import MAX_ACTIVE_SECONDS
from annotate.tasks.labelling import skip_task, submit_task
from tests.annotate.factories import World, finish, label_all, make_sample, make_world, say, stored

QUOTE = {"context": 0, "start": 15, "end": 16, "quote": "😀"}


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    world = make_world()
    make_sample(world.project)
    world.batch(criteria=("support", "grade", "relevance"), annotators=[world.ann, world.ben])
    return world


@pytest.fixture
def task(world: World) -> Task:
    return Task.objects.get(annotator=world.ann)


def test_evidence_whose_offsets_have_shifted_is_stored_where_its_quote_stands(world: World, task: Task) -> None:
    # As a browser counts that forgot the emoji, and one that saw an older text.
    sent = [{**QUOTE, "start": 16, "end": 18}, {"context": 1, "start": 40, "end": 42, "quote": "九点"}]
    stands = [QUOTE, {"context": 1, "start": 5, "end": 7, "quote": "九点"}]
    key = uuid.uuid4()
    first = say(world.ann, task, "claim:0", "support", "yes", key=key, evidence=sent)
    assert first["evidence"] == stands
    assert Label.objects.get().evidence == LabelEvent.objects.get().evidence == stands
    # The same request again gets the same reply.
    assert say(world.ann, task, "claim:0", "support", "yes", key=key, evidence=sent) == first


def test_a_label_is_stored_with_everything(world: World, task: Task) -> None:
    saved = say(world.ann, task, "claim:1", "support", "no", comment=" see 👀\n", evidence=[QUOTE], active_seconds=12)
    assert saved == {
        "unit": "claim:1",
        "criterion": "support",
        "value": "no",
        "cant_tell": "",
        "comment": " see 👀\n",
        "evidence": [QUOTE],
        "revision": 1,
    }
    label = Label.objects.get()
    event = LabelEvent.objects.get()
    for kept in (label, event):
        assert (kept.value, kept.comment, kept.evidence, kept.revision) == ("no", " see 👀\n", [QUOTE], 1)
    assert (label.rater.user, label.sample, label.task) == (world.ann, task.sample, task)
    assert event.actor == world.ann
    task.refresh_from_db()
    assert (task.status, task.active_seconds) == ("in_progress", 12)
    assert task.started_at is not None


def test_values_are_stored_as_the_option_spells_them(world: World, task: Task) -> None:
    assert say(world.ann, task, "answer", "grade", "4.0")["value"] == 4
    assert say(world.ann, task, "context:0", "relevance", "1")["value"] == 1.0


def test_taking_a_choice_back_keeps_the_comment(world: World, task: Task) -> None:
    say(world.ann, task, "answer", "grade", 4)
    saved = say(world.ann, task, "answer", "grade", None, seen=1, comment="not sure")
    assert (saved["value"], saved["comment"], saved["revision"]) == (None, "not sure", 2)
    assert list(LabelEvent.objects.order_by("revision").values_list("value", flat=True)) == [4, None]
    label = Label.objects.get()
    assert label.value is None
    assert Label.objects.filter(value__isnull=True).exists()


GOOD = {"unit": "claim:0", "criterion": "support", "value": "yes"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"value": "maybe"}, "not_an_option"), ({"value": "YES"}, "not_an_option"), ({"value": 1}, "not_an_option"),
        ({"value": True}, "not_an_option"), ({"value": ["yes"]}, "not_an_option"),
        ({"value": {"value": "yes"}}, "not_an_option"),
        ({"value": "yes\x00"}, "not_an_option"), ({"value": ""}, "not_an_option"),
        ({"unit": "answer", "criterion": "grade", "value": True}, "not_an_option"),
        ({"unit": "answer", "criterion": "grade", "value": 6}, "not_an_option"),
        ({"unit": "answer", "criterion": "grade", "value": 4.5}, "not_an_option"),
        ({"unit": "context:0", "criterion": "relevance", "value": True}, "not_an_option"),
        ({"unit": "context:0", "criterion": "relevance", "value": float("nan")}, "not_an_option"),
        ({"unit": "context:0", "criterion": "relevance", "value": 10**400}, "not_an_option"),
        ({"criterion": "correct"}, "criterion_not_asked"), ({"criterion": "Support"}, "criterion_not_asked"),
        ({"criterion": ""}, "criterion_not_asked"), ({"criterion": "support' OR 1=1 --"}, "criterion_not_asked"),
        ({"criterion": None}, "bad_text"), ({"criterion": 3}, "bad_text"), ({"criterion": ["support"]}, "bad_text"),
        ({"criterion": "support\x00"}, "bad_text"), ({"criterion": "\ud800"}, "bad_text"),
        ({"unit": "claim:2"}, "unknown_unit"), ({"unit": "claim:99"}, "unknown_unit"),
        ({"unit": "claim:999999"}, "unknown_unit"),
        ({"unit": "answer"}, "wrong_unit"), ({"unit": "context:0"}, "wrong_unit"),
        ({"unit": "claim:-1"}, "bad_unit"), ({"unit": "claim:0\n"}, "bad_unit"), ({"unit": "claim:00"}, "bad_unit"),
        ({"unit": "x" * 10**6}, "bad_unit"), ({"unit": 0}, "bad_text"), ({"unit": None}, "bad_text"),
        ({"unit": "claim:0\x00"}, "bad_text"),
        ({"comment": "a\x00b"}, "bad_comment"), ({"comment": "\udfff"}, "bad_comment"),
        ({"comment": None}, "bad_comment"),
        ({"comment": 5}, "bad_comment"), ({"comment": ["a"]}, "bad_comment"),
        ({"comment": "c" * (MAX_COMMENT + 1)}, "comment_too_long"),
        ({"comment": "c" * 10**7}, "comment_too_long"),
        ({"evidence": [{**QUOTE, "quote": "x"}]}, "bad_evidence"),
        ({"evidence": [{**QUOTE, "context": 2}]}, "bad_evidence"),
        ({"evidence": [QUOTE] * 101}, "bad_evidence"), ({"evidence": ["a"]}, "bad_evidence"),
        *(({"active_seconds": value}, "bad_active_seconds") for value in (-1, True, "5", 2.5, [])),
        *(({"active_ms": value}, "bad_active_ms") for value in (-1, True, "5", 2.5, [])),
        *(({"value": None, "cant_tell": value}, "bad_cant_tell")
          for value in (None, True, 3, ["a"], "a\x00", "\ud800")),
        ({"value": None, "cant_tell": "c" * (MAX_COMMENT + 1)}, "cant_tell_too_long"),
        ({"cant_tell": "No idea."}, "two_answers"),
    ],
)  # fmt: skip
def test_a_bad_label_is_refused_in_a_sentence_and_nothing_is_stored(
    world: World, task: Task, changes: dict[str, Any], code: str
) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        say(world.ann, task, **{**GOOD, **changes})
    assert refused.value.code == code
    assert 400 <= refused.value.status < 500
    assert refused.value.message.endswith((".", "entity:0"))
    assert len(refused.value.message) < 300
    assert stored() == before


@pytest.mark.parametrize("who", ["alice", "rita", "ben", "chen", "charlie", "dora"])
def test_another_annotators_task_is_not_found(world: World, task: Task, who: str) -> None:
    user = getattr(world, who)
    before = stored()
    with pytest.raises(Http404) as hidden:
        say(user, task, **GOOD)
    with pytest.raises(Http404) as absent:
        say(user, Task(pk=10**12), **GOOD)
    assert str(hidden.value) == str(absent.value)
    with pytest.raises(Http404):
        submit_task(actor=user, task_id=task.pk)
    with pytest.raises(Http404):
        skip_task(actor=user, task_id=task.pk, reason="Not mine.")
    assert stored() == before


def test_a_task_is_gone_for_a_member_who_left_and_back_with_them(world: World, task: Task) -> None:
    close_batch(batch=task.batch)
    remove_member(project=world.project, user=world.ann)
    with pytest.raises(Http404):
        say(world.ann, task, **GOOD)
    set_member(project=world.project, user=world.ann, role="annotator")
    with pytest.raises(Conflict, match="is closed"):
        say(world.ann, task, **GOOD)


@pytest.mark.parametrize("end", [close_batch, start_adjudication])
def test_a_closed_batch_takes_nothing(world: World, task: Task, end: Any) -> None:
    label_all(task)
    end(batch=task.batch)
    before = stored()
    for attempt in (
        lambda: say(world.ann, task, "claim:0", "support", "no", seen=1),
        lambda: say(world.ann, task, "context:0", "relevance", 0.5),
        lambda: submit_task(actor=world.ann, task_id=task.pk),
        lambda: skip_task(actor=world.ann, task_id=task.pk, reason="Late."),
    ):
        with pytest.raises(Conflict) as refused:
            attempt()
        assert refused.value.code == "batch_not_open"
    assert stored() == before


def test_what_is_missing_is_listed_at_submit(world: World, task: Task) -> None:
    say(world.ann, task, "claim:0", "support", "yes")
    say(world.ann, task, "answer", "grade", None, comment="later")
    before = stored()
    with pytest.raises(Invalid, match="2 answers are still missing") as refused:
        submit_task(actor=world.ann, task_id=task.pk, active_seconds=9)
    assert refused.value.details["missing"] == [
        {"unit": "claim:1", "criterion": "support"},
        {"unit": "answer", "criterion": "grade"},
    ]
    assert stored() == before
    say(world.ann, task, "claim:1", "support", "yes")
    with pytest.raises(Invalid, match="1 answer is still missing"):
        submit_task(actor=world.ann, task_id=task.pk)


def test_what_is_optional_may_be_left_out(world: World, task: Task) -> None:
    finish(task)
    task.refresh_from_db()
    assert task.status == "submitted"
    assert task.submitted_at is not None


def test_submitting_again_changes_nothing(world: World, task: Task) -> None:
    finish(task)
    before = (stored(), Task.objects.get(pk=task.pk).submitted_at)
    submit_task(actor=world.ann, task_id=task.pk, active_seconds=100)
    assert (stored(), Task.objects.get(pk=task.pk).submitted_at) == before
    with pytest.raises(Conflict, match="already submitted"):
        skip_task(actor=world.ann, task_id=task.pk, reason="Changed my mind.")


@pytest.mark.parametrize("reason", ["", "   ", None, 5, "a\x00", "\ud800", "r" * (MAX_COMMENT + 1)])
def test_skipping_takes_a_reason(world: World, task: Task, reason: Any) -> None:
    before = stored()
    with pytest.raises(Invalid) as refused:
        skip_task(actor=world.ann, task_id=task.pk, reason=reason)
    assert refused.value.code == "no_reason"
    assert stored() == before


def test_skipping(world: World, task: Task) -> None:
    say(world.ann, task, **GOOD)
    for reason in (" No contexts. ", "Said twice."):
        skip_task(actor=world.ann, task_id=task.pk, reason=reason, active_seconds=4)
    task.refresh_from_db()
    assert (task.status, task.skip_reason, task.active_seconds) == ("skipped", "No contexts.", 4)
    assert task.submitted_at is None
    assert Label.objects.count() == 1
    with pytest.raises(Conflict, match="already skipped"):
        say(world.ann, task, **{**GOOD, "value": "no"}, seen=1)
    with pytest.raises(Conflict, match="already skipped"):
        submit_task(actor=world.ann, task_id=task.pk)


def test_seconds_only_grow_and_have_an_end(world: World, task: Task) -> None:
    totals = []
    for revision, seconds in enumerate([30, 10, None, 45, 10**9]):
        say(world.ann, task, **GOOD, seen=revision, active_seconds=seconds)
        task.refresh_from_db()
        totals.append(task.active_seconds)
    assert totals == [30, 30, 30, 45, MAX_ACTIVE_SECONDS]


# Revisions and repeats


def test_a_stale_edit_shows_both_versions_and_changes_nothing(world: World, task: Task) -> None:
    say(world.ann, task, **GOOD)
    say(world.ann, task, **{**GOOD, "value": "no"}, seen=1, comment="second")
    before = stored()
    for seen in (0, 1, 3, 999_999_999):
        with pytest.raises(Stale) as refused:
            say(world.ann, task, **{**GOOD, "value": "unsure"}, seen=seen, comment="third")
        assert refused.value.status == 412
        assert refused.value.details == {
            "current": {**GOOD, "value": "no", "cant_tell": "", "comment": "second", "evidence": [], "revision": 2},
            "yours": {"value": "unsure", "cant_tell": "", "comment": "third", "evidence": []},
        }
    assert stored() == before


def test_an_edit_of_a_label_that_never_was(world: World, task: Task) -> None:
    with pytest.raises(Stale) as refused:
        say(world.ann, task, **GOOD, seen=1)
    assert refused.value.details["current"] is None
    assert not Label.objects.exists()


def test_a_repeat_gets_the_first_reply_whatever_happened_since(world: World, task: Task) -> None:
    key = uuid.uuid4()
    first = say(world.ann, task, **GOOD, key=key, comment="c", evidence=[QUOTE])
    repeat = {**GOOD, "key": key, "comment": "c", "evidence": [QUOTE]}
    assert say(world.ann, task, **repeat) == first
    say(world.ann, task, **{**GOOD, "value": "no"}, seen=1)
    assert say(world.ann, task, **repeat) == first
    say(world.ann, task, "claim:1", "support", "yes")
    say(world.ann, task, "answer", "grade", 1)
    submit_task(actor=world.ann, task_id=task.pk)
    before = stored()
    assert say(world.ann, task, **repeat) == first
    assert stored() == before
    close_batch(batch=task.batch)
    before = stored()
    assert say(world.ann, task, **repeat) == first
    assert stored() == before
    assert Label.objects.get(unit="claim:0").value == "no"


@pytest.mark.parametrize("seen", [0, 1])
@pytest.mark.parametrize(
    "other",
    [
        {"value": "no"}, {"comment": "other"}, {"evidence": [QUOTE]}, {"value": None}, {"unit": "claim:1"},
        {"unit": "answer", "criterion": "grade", "value": 3},
    ],
)  # fmt: skip
def test_a_key_belongs_to_one_change(world: World, task: Task, seen: int, other: dict[str, Any]) -> None:
    key = uuid.uuid4()
    say(world.ann, task, **GOOD, key=key)
    before = stored()
    # A new label is revision 0, whichever the browser thinks.
    with pytest.raises(Refusal) as refused:
        say(world.ann, task, **{**GOOD, **other}, seen=seen if "unit" not in other else 0, key=key)
    assert (refused.value.status, refused.value.code) == (422, "key_reused")
    assert stored() == before


def test_a_key_of_another_annotator_is_taken_and_tells_nothing(world: World, task: Task) -> None:
    key = uuid.uuid4()
    say(world.ben, task.batch.tasks.get(annotator=world.ben), **{**GOOD, "value": "no"}, key=key, comment="secret")
    before = stored()
    for seen in (0, 1):
        with pytest.raises(Invalid) as refused:
            say(world.ann, task, **GOOD, seen=seen, key=key)
        assert refused.value.code == "key_reused"
        assert refused.value.details == {}
    assert stored() == before


def test_a_late_autosave_never_reopens(world: World, task: Task) -> None:
    finish(task)
    before = stored()
    with pytest.raises(Conflict) as refused:
        say(world.ann, task, **{**GOOD, "value": "no"}, seen=1)
    assert (refused.value.status, refused.value.code) == (409, "task_submitted")
    with pytest.raises(Conflict):
        say(world.ann, task, "context:0", "relevance", 0.5)
    assert stored() == before
    assert not Verdict.objects.exists()
