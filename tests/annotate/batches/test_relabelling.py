"""A criterion evolves: which labels a change touches, and how only those are asked again."""

from __future__ import annotations

import copy
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.batches.board_read import person_boards
from annotate.batches.criterion_change_read import Choices, change_between, impact, touched_by
from annotate.batches.read import batch_criteria
from annotate.batches.relabelling import change_criterion, relabel
from annotate.batches.steps import close_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid, Stale
from annotate.labels.consensus import settle_imported
from annotate.labels.read import counting_labels
from annotate.models import AuditEntry, Batch, Criterion, Label, LabelEvent, Membership, Rater, Task, Verdict
from annotate.projects.criteria import add_criteria, check_spec
from annotate.projects.write import remove_member
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import mark_read, send_back
from annotate.verdicts.disputes_read import Dispute, people_of
from annotate.verdicts.lessons_read import Lessons
from annotate.verdicts.rating_codes_read import rating_columns
from annotate.verdicts.ratings_read import labels_before
from annotate.verdicts.read import Queue
from tests.annotate.factories import TRISTATE, World, decide_unit, finish, make_samples, make_world, say

SAME = Choices(same_meaning=True, reason="A typo.")


def changed(**fields: Any) -> dict[str, Any]:
    return check_spec({**copy.deepcopy(TRISTATE), **fields})


def without(value: str) -> dict[str, Any]:
    return changed(options=[option for option in TRISTATE["options"] if option["value"] != value])


def renamed(value: str) -> dict[str, Any]:
    return changed(options=[{**o, "label": "Other"} if o["value"] == value else o for o in TRISTATE["options"]])


ADDED = changed(options=[*TRISTATE["options"], {"value": "partly"}])


@pytest.fixture(scope="module")
def _world(module_transaction: None) -> World:
    """Ann and Ben labelled two samples of two claims; Ann says yes, no on each, Ben yes, and on the second unsure."""
    world = make_world()
    make_samples(world.project, 2)
    batch = world.batch(criteria=["support"], annotators=[world.ann, world.ben])
    for task in batch.tasks.order_by("sample_id", "annotator__username"):
        second = "no" if task.annotator == world.ann or task.sample.external_id == "s2" else "unsure"
        finish(task, support=lambda unit, second=second: "yes" if unit == "claim:0" else second)
    return world


@pytest.fixture
def labelled(world: World) -> World:
    return world


def support(world: World, version: int = 1) -> Criterion:
    return world.project.criteria.get(key="support", version=version)


def touches(world: World, spec: dict[str, Any], choices: Choices | None = None) -> dict[Any, bool]:
    return {row.value: row.touched for row in impact(old=support(world), new=spec, choices=choices).values}


# Which labels a change touches


@pytest.mark.parametrize(
    ("spec", "choices", "touched"),
    [
        (changed(prompt="Really?"), None, {"yes", "no", "unsure"}),
        (changed(help="Read all."), None, {"yes", "no", "unsure"}),
        (changed(prompt="Really?"), SAME, set()),
        (without("unsure"), None, {"unsure"}),
        (without("unsure"), SAME, {"unsure"}),
        (renamed("no"), None, {"no"}),
        (renamed("no"), SAME, set()),
        (ADDED, None, {"yes", "no", "unsure"}),
        (ADDED, Choices(maybe_new=("no",)), {"no"}),
        (ADDED, Choices(maybe_new=()), set()),
        (changed(scale="ordinal"), SAME, {"yes", "no", "unsure"}),
        (changed(name="Backed"), None, set()),
        (changed(required=False), None, set()),
        (changed(options=TRISTATE["options"][::-1]), None, set()),
        ({**changed(), "pass": ["yes", "unsure"]}, None, set()),
        (changed(options=[{**TRISTATE["options"][0], "hotkey": "7"}, *TRISTATE["options"][1:]]), None, set()),
    ],
)
def test_what_a_change_touches(
    labelled: World, spec: dict[str, Any], choices: Choices | None, touched: set[Any]
) -> None:
    found = touches(labelled, spec, choices)
    assert {value for value, hit in found.items() if hit} == touched
    assert set(found) == {"yes", "no", "unsure"}


def test_the_meaning_stays_for_a_reason_only(labelled: World) -> None:
    with pytest.raises(Invalid, match="why the meaning stays"):
        touches(labelled, changed(prompt="Really?"), Choices(same_meaning=True, reason=" "))


def test_the_impact_counts_labels_verdicts_batches_and_people(labelled: World) -> None:
    found = impact(old=support(labelled), new=without("unsure"))
    assert (found.labels, found.touched, found.untouched) == (8, 1, 7)
    assert [(row.value, row.labels, row.verdicts) for row in found.values] == [
        ("yes", 4, 2), ("no", 3, 1), ("unsure", 1, 0),
    ]  # fmt: skip
    assert [(row.number, row.labels, row.touched) for row in found.batches] == [(1, 8, 1)]
    assert [(row.name, row.touched, row.samples, row.can_redo) for row in found.people] == [("ben", 1, 1, True)]


def test_tasks_that_still_ask_the_old_version_are_counted(labelled: World) -> None:
    labelled.batch(criteria=["support"], annotators=[labelled.chen], overlap=1)
    found = impact(old=support(labelled), new=without("unsure"))
    assert (found.open_tasks, found.labels) == (2, 8)


values = st.lists(st.sampled_from(["a", "b", "c", "d", 1, 2.5, True]), min_size=2, max_size=5, unique_by=str)
word = st.sampled_from(["", "one", "two"])


@st.composite
def specs(draw: Any) -> dict[str, Any]:
    options = [
        {"value": value, "label": draw(word) or str(value), **({"help": help_} if (help_ := draw(word)) else {})}
        for value in draw(values)
    ]
    return {
        "name": "N", "unit": "claim", "scale": draw(st.sampled_from(["nominal", "ordinal"])),
        "prompt": draw(st.sampled_from(["P?", "Q?"])), "help": draw(word), "required": draw(st.booleans()),
        "options": options, "pass": [],
    }  # fmt: skip


def stored(spec: dict[str, Any]) -> Criterion:
    return Criterion(passes=spec["pass"], **{name: value for name, value in spec.items() if name != "pass"})


@given(specs(), specs(), st.booleans(), st.none() | st.just(()))
def test_the_rule_never_keeps_what_the_new_version_does_not_take(
    before: dict[str, Any], after: dict[str, Any], same: bool, maybe_new: tuple[()] | None
) -> None:
    rule = touched_by(
        change_between(stored(before), after), Choices(same, "Why not.", maybe_new), new_options=after["options"]
    )
    now = {repr(option["value"]) for option in after["options"]}
    for option in before["options"]:
        assert rule(option["value"]) or repr(option["value"]) in now


@given(specs(), specs())
def test_saying_that_the_meaning_stays_never_touches_more(before: dict[str, Any], after: dict[str, Any]) -> None:
    change = change_between(stored(before), after)
    loose = touched_by(change, Choices(maybe_new=()), new_options=after["options"])
    kept = touched_by(change, Choices(True, "Only words.", ()), new_options=after["options"])
    strict = touched_by(change, Choices(), new_options=after["options"])
    for option in before["options"]:
        assert kept(option["value"]) <= loose(option["value"]) <= strict(option["value"])


@given(specs())
def test_nothing_changed_touches_nothing(spec: dict[str, Any]) -> None:
    change = change_between(stored(spec), copy.deepcopy(spec))
    assert not change
    rule = touched_by(change, Choices(), new_options=spec["options"])
    assert not any(rule(option["value"]) for option in spec["options"])
    assert not rule(None)


# Only those are asked again


def evolve(world: World, spec: dict[str, Any], **more: Any) -> Any:
    more = {"choices": Choices(), **more}
    return change_criterion(actor=world.alice, project=world.project, seen=support(world), spec=spec, **more)


def said(criterion: Criterion) -> set[tuple[str, str, str, Any]]:
    return set(
        counting_labels().filter(criterion=criterion).values_list("rater__name", "sample__external_id", "unit", "value")
    )


def test_only_touched_labels_are_asked_again(labelled: World) -> None:
    before = said(support(labelled))
    done = evolve(labelled, without("unsure"), due_date=date(2099, 1, 1))
    assert (done.carried, done.asked, done.left, done.verdicts) == (7, 1, 0, 3)
    batch = done.batch
    assert (batch.relabels, batch.status, batch.due_date) == (support(labelled), "open", date(2099, 1, 1))
    task = batch.tasks.get()
    assert (task.annotator, task.sample.external_id, task.status) == (labelled.ben, "s1", "pending")
    # Filled in, but for the one that is asked.
    assert list(task.labels.values_list("unit", "value")) == [("claim:0", "yes")]
    # Ben's other label of that sample counts again when he submits.
    new = support(labelled, 2)
    assert said(new) == before - {("ben", "s1", "claim:1", "unsure"), ("ben", "s1", "claim:0", "yes")}
    say(labelled.ben, task, "claim:1", "support", "no")
    submit_task(actor=labelled.ben, task_id=task.pk)
    assert said(new) == before - {("ben", "s1", "claim:1", "unsure")} | {("ben", "s1", "claim:1", "no")}
    assert {v.value for v in Verdict.objects.filter(criterion=new, unit="claim:1")} == {"no"}
    assert Verdict.objects.filter(criterion=new, state="settled").count() == 4
    assert [row.expected == row.given for row in batch_criteria(batch)] == [True]


def test_what_was_said_in_the_old_version_stays(labelled: World) -> None:
    before = list(Label.objects.filter(criterion=support(labelled)).order_by("id").values())
    evolve(labelled, without("unsure"))
    assert list(Label.objects.filter(criterion=support(labelled)).order_by("id").values()) == before


def test_a_carried_label_says_where_it_comes_from(labelled: World) -> None:
    label = Label.objects.get(sample__external_id="s2", rater__name="ann", unit="claim:0")
    Label.objects.filter(pk=label.pk).update(comment="Page 3.", evidence=[{"context": 0, "start": 0, "end": 4}])
    evolve(labelled, without("unsure"))
    carried = Label.objects.get(criterion=support(labelled, 2), sample=label.sample, rater=label.rater, unit="claim:0")
    event = LabelEvent.objects.get(label=carried)
    assert (event.actor, event.carried_from, event.comment) == (labelled.alice, label, "Page 3.")
    assert (carried.comment, carried.evidence, carried.task_id) == (
        "Page 3.", [{"context": 0, "start": 0, "end": 4}], label.task_id,
    )  # fmt: skip
    assert carried.updated_at == label.updated_at
    entry = AuditEntry.objects.get(action="criterion.relabelled")
    assert entry.details | {"batch": 0} == {
        "before": 1, "version": 2, "carried": 7, "verdicts": 3, "asked": 1, "left": 0, "waiting": 0,
        "known_answers": 0, "same_meaning": False, "reason": "", "batch": 0,
    }  # fmt: skip


def test_a_carried_label_is_no_second_one(labelled: World) -> None:
    """Neither a vote more, nor a repeat by which somebody's steadiness would be measured."""
    done = evolve(labelled, without("unsure"))
    say(labelled.ben, done.batch.tasks.get(), "claim:1", "support", "no")
    submit_task(actor=labelled.ben, task_id=done.batch.tasks.get().pk)
    new = support(labelled, 2)
    columns = rating_columns(new, reader=SYSTEM)
    assert len(columns.units) == len(set(zip(columns.units, columns.raters, strict=True))) == 8
    assert labels_before(new, columns.replaced.tolist(), reader=SYSTEM) == []
    assert None not in columns.days


def test_the_dashboard_counts_what_people_did_and_nothing_twice(labelled: World) -> None:
    first = Batch.objects.get()
    Label.objects.update(active_ms=4000)
    Label.objects.filter(rater__name="ben", unit="claim:1").update(active_ms=20_000)

    def figures(batch: Batch) -> dict[str, Any]:
        return {
            board.user.username: (
                board.done, board.left, board.seconds_per_unit, board.agreement.n, board.pace, board.seconds_per_task,
            )
            for board in person_boards(batch)
        }  # fmt: skip

    before, criteria = figures(first), batch_criteria(first)
    done = evolve(labelled, without("unsure"))
    assert figures(first) == before
    assert batch_criteria(first) == criteria
    # Of two claims one is filled in: nobody did it here, and nobody has to.
    assert figures(done.batch)["ben"] == (0, 1, None, 0, None, None)
    assert [(row.expected, row.given) for row in batch_criteria(done.batch)] == [(1, 0)]
    task = done.batch.tasks.get()
    say(labelled.ben, task, "claim:1", "support", "no", active_ms=7000)
    submit_task(actor=labelled.ben, task_id=task.pk)
    assert figures(done.batch)["ben"][:4] == (1, 0, 7.0, 1)
    assert [(row.expected, row.given) for row in batch_criteria(done.batch)] == [(1, 1)]


def test_nothing_touched_means_no_batch(labelled: World) -> None:
    done = evolve(labelled, changed(prompt="Is it backed?"), choices=SAME)
    assert (done.batch, done.carried, done.verdicts) == (None, 8, 4)
    assert Batch.objects.count() == 1
    assert said(support(labelled, 2)) == said(support(labelled))
    assert AuditEntry.objects.get(action="criterion.relabelled").details["reason"] == "A typo."


def test_everything_touched_means_all_annotators_are_asked(labelled: World) -> None:
    done = evolve(labelled, changed(prompt="Really?"))
    assert (done.carried, done.asked, done.verdicts) == (0, 8, 0)
    assert done.batch.tasks.count() == 4


def test_a_decision_on_an_untouched_unit_is_carried(labelled: World) -> None:
    disputed = Verdict.objects.get(state="disputed")
    decide_unit(labelled.rita, disputed, "no", "Page 4.")
    evolve(labelled, changed(name="Backed"))
    carried = Verdict.objects.get(criterion__version=2, sample=disputed.sample, unit=disputed.unit)
    assert (carried.value, carried.method, carried.decided_by, carried.state) == (
        "no", "adjudicated", labelled.rita, "settled",
    )  # fmt: skip
    assert carried.reason == "Page 4. (carried over from version 1)"
    assert {vote["label"] for vote in carried.votes} == set(
        Label.objects.filter(criterion__version=2, sample=carried.sample, unit=carried.unit).values_list(
            "pk", flat=True
        )
    )
    # The same rule finds the same votes: nothing is written again, nothing reopened.
    assert settle_imported(project=labelled.project, criterion=support(labelled, 2), needed=2) == 0


def test_a_decision_for_an_option_that_is_gone_is_not_carried(labelled: World) -> None:
    verdict = Verdict.objects.get(sample__external_id="s2", unit="claim:0")
    decide_unit(labelled.rita, verdict, "unsure", "Neither.")
    done = evolve(labelled, without("unsure"))
    # Both had said yes, and the reviewer disagreed: no rule puts that aside.
    carried = Verdict.objects.get(criterion__version=2, sample=verdict.sample, unit="claim:0")
    assert (carried.state, carried.value, len(carried.votes), carried.agreement) == ("disputed", None, 2, 1)
    assert done.waiting == 1


def test_a_carried_verdict_holds_all_that_one_made_in_the_normal_way_does(labelled: World) -> None:
    """Settled by rule, disputed, decided, and decided and reopened since."""
    reopened, decided = Verdict.objects.filter(unit="claim:1").order_by("-state")
    for verdict in (reopened, decided):
        decide_unit(labelled.rita, verdict, "no", "Page 4.")
    changes = Label.objects.get(sample=reopened.sample, unit="claim:1", rater__name="ann")
    reopen_task(actor=labelled.ann, task_id=changes.task_id)
    say(labelled.ann, changes.task, "claim:1", "support", "yes", seen=1)
    submit_task(actor=labelled.ann, task_id=changes.task_id)
    before = {(v.sample_id, v.unit): v for v in Verdict.objects.all()}
    evolve(labelled, changed(name="Backed"))
    after = {(v.sample_id, v.unit): v for v in Verdict.objects.filter(criterion__version=2)}
    assert after.keys() == before.keys()
    assert [v.agreement for v in after.values()] == [before[key].agreement for key in after]
    assert None not in [v.agreement for v in after.values()]
    assert [v.decided_at for v in after.values()] == [before[key].decided_at for key in after]
    now, then = (rows[decided.sample_id, "claim:1"] for rows in (after, before))
    assert then.decided_votes is not None
    assert now.decided_votes == now.votes != then.votes
    now, then = (rows[reopened.sample_id, "claim:1"] for rows in (after, before))
    assert (now.state, then.state) == ("reopened", "reopened")
    # Only Ann's vote changed since the decision, in the new version as in the old one.
    shown = [
        [(one.letter, one.before, one.after) for one in Dispute(v, people_of(v.sample, named=False)).changes]
        for v in (now, then)
    ]
    assert shown[0] == shown[1] == [("A", "no", "yes")]
    assert [v.decided_votes for v in after.values() if v.unit == "claim:0"] == [None, None]


def test_what_was_learnt_from_a_decision_is_no_new_lesson(labelled: World) -> None:
    disputed = Verdict.objects.get(state="disputed")
    decide_unit(labelled.rita, disputed, "no", "Page 4.")
    close_batch(batch=Batch.objects.get())
    assert mark_read(user=labelled.ben, project=labelled.project, verdict_ids=[disputed.pk]) == 1
    evolve(labelled, changed(name="Backed"))
    (lesson,) = Lessons(labelled.project, reader=labelled.ben)
    assert (lesson.verdict.criterion.version, lesson.is_new) == (2, False)


def test_a_carried_label_is_not_sent_back_to_the_task_that_asks_the_old_version(labelled: World) -> None:
    old = Verdict.objects.get(state="disputed")
    evolve(labelled, changed(name="Backed"))
    new = Verdict.objects.get(criterion__version=2, sample=old.sample, unit=old.unit)
    people = people_of(new.sample, named=False)
    assert [one.may_return for one in Dispute(new, people).labels] == [False, False]
    with pytest.raises(Conflict, match=r"carried over.*a batch with version 2"):
        send_back(reviewer=labelled.rita, project=labelled.project, verdict_id=new.pk, letter="A", message="Look.")
    assert not Task.objects.exclude(status="submitted").exists()


def test_a_label_in_the_task_that_asks_the_new_version_is_sent_back(labelled: World) -> None:
    done = evolve(labelled, without("unsure"))
    task = done.batch.tasks.get()
    say(labelled.ben, task, "claim:1", "support", "yes")
    submit_task(actor=labelled.ben, task_id=task.pk)
    new = Verdict.objects.get(criterion__version=2, sample=task.sample, unit="claim:1")
    assert new.state == "disputed"
    letter = next(one.letter for one in Dispute(new, people_of(new.sample, named=False)).labels if one.may_return)
    sent = send_back(
        reviewer=labelled.rita, project=labelled.project, verdict_id=new.pk, letter=letter, message="Look."
    )
    assert (sent.pk, sent.batch) == (task.pk, done.batch)


def test_units_without_an_annotator_to_ask_wait_for_the_reviewers(labelled: World) -> None:
    for user in (labelled.ann, labelled.ben):
        remove_member(project=labelled.project, user=user, actor=labelled.alice)
    done = evolve(labelled, without("unsure"))
    assert (done.asked, done.left, done.batch, done.waiting) == (0, 1, None, 1)
    left = Verdict.objects.get(criterion__version=2, state="disputed")
    assert [vote["value"] for vote in left.votes] == ["no"], "Ben's was the other one"
    assert left in list(Queue(labelled.project, reader=labelled.rita, state="short"))


def test_what_lost_all_its_labels_waits_for_the_reviewers_too(labelled: World) -> None:
    for user in (labelled.ann, labelled.ben):
        remove_member(project=labelled.project, user=user, actor=labelled.alice)
    done = evolve(labelled, changed(prompt="Really?"))
    assert (done.carried, done.asked, done.left, done.waiting) == (0, 0, 8, 4)
    new = Verdict.objects.filter(criterion__version=2)
    assert {(v.state, v.value, len(v.votes), v.agreement) for v in new} == {("disputed", None, 0, None)}
    assert len(Queue(labelled.project, reader=labelled.rita)) == 4
    assert evolve_again(labelled).waiting == 0
    assert AuditEntry.objects.filter(action="criterion.relabelled").count() == 1


def test_units_still_being_labelled_are_not_given_to_the_reviewers(labelled: World) -> None:
    labelled.batch(criteria=["support"], annotators=[labelled.chen], overlap=1)
    for user in (labelled.ann, labelled.ben):
        remove_member(project=labelled.project, user=user, actor=labelled.alice)
    assert evolve(labelled, without("unsure")).waiting == 0


def test_a_dispute_is_asked_of_the_reviewers_once(labelled: World) -> None:
    def waiting() -> list[Verdict]:
        return list(Queue(labelled.project, reader=labelled.rita)[:10])

    assert len(waiting()) == 1
    evolve(labelled, changed(name="Backed"))
    assert [verdict.criterion.version for verdict in waiting()] == [2]


def test_labels_of_who_has_left_go_to_whom_the_admin_says(labelled: World) -> None:
    rater = Rater.objects.get(name="ben")
    remove_member(project=labelled.project, user=labelled.ben, actor=labelled.alice)
    found = impact(old=support(labelled), new=without("unsure"))
    assert [(row.name, row.rater_id) for row in found.left_behind] == [("ben", rater.pk)]
    done = evolve(labelled, without("unsure"), hand_to={rater.pk: labelled.chen})
    assert (done.asked, done.left) == (1, 0)
    task = done.batch.tasks.get()
    # Chen says everything in their own words; Ben's other label stays where it was, and counts.
    assert (task.annotator, task.labels.count()) == (labelled.chen, 0)
    assert ("ben", "s1", "claim:0", "yes") in said(support(labelled, 2))


def test_no_annotator_is_asked_twice_about_a_sample(labelled: World) -> None:
    rater = Rater.objects.get(name="ben")
    Membership.objects.filter(user=labelled.ben).update(is_active=False)
    done = evolve(labelled, without("unsure"), hand_to={rater.pk: labelled.ann})
    assert (done.asked, done.left, done.batch) == (0, 1, None)


def test_a_stranger_gets_no_labels(labelled: World) -> None:
    with pytest.raises(Invalid, match="not an active member"):
        evolve(labelled, without("unsure"), hand_to={Rater.objects.get(name="ben").pk: labelled.charlie})
    assert not labelled.project.criteria.filter(version=2).exists()


def test_a_second_call_finds_the_batch(labelled: World) -> None:
    done = evolve(labelled, without("unsure"))
    before = (Label.objects.count(), Task.objects.count(), Verdict.objects.count(), AuditEntry.objects.count())
    again = relabel(
        actor=labelled.alice, project=labelled.project, old=support(labelled), new=support(labelled, 2),
        choices=Choices(),
    )  # fmt: skip
    assert again.batch == done.batch
    assert (Label.objects.count(), Task.objects.count(), Verdict.objects.count(), AuditEntry.objects.count()) == before


def evolve_again(world: World) -> Any:
    return relabel(
        actor=world.alice, project=world.project, old=support(world), new=support(world, 2), choices=Choices()
    )


def test_a_second_call_carries_nothing_twice(labelled: World) -> None:
    evolve(labelled, changed(name="Backed"))
    before = (Label.objects.count(), Verdict.objects.count(), AuditEntry.objects.count())
    again = relabel(
        actor=labelled.alice, project=labelled.project, old=support(labelled), new=support(labelled, 2),
        choices=Choices(),
    )  # fmt: skip
    assert again.carried == 0
    assert (Label.objects.count(), Verdict.objects.count(), AuditEntry.objects.count()) == before


def test_a_version_that_another_admin_made_is_not_overwritten(labelled: World) -> None:
    seen = support(labelled)
    add_criteria(project=labelled.project, specs=[changed(prompt="Meanwhile?")], actor=labelled.alice)
    with pytest.raises(Stale, match="Version 2"):
        change_criterion(
            actor=labelled.alice, project=labelled.project, seen=seen, spec=without("unsure"), choices=Choices()
        )


def test_versions_of_different_criteria_do_not_mix(labelled: World) -> None:
    grade = labelled.project.criteria.get(key="grade")
    for old, new in ((support(labelled), grade), (grade, grade)):
        with pytest.raises(Invalid, match="same criterion"):
            relabel(actor=labelled.alice, project=labelled.project, old=old, new=new, choices=Choices())
    add_criteria(project=labelled.project, specs=[changed(prompt="2?")], actor=labelled.alice)
    old, new = support(labelled), support(labelled, 2)
    labelled.batch(criteria=["support"])
    add_criteria(project=labelled.project, specs=[changed(prompt="3?")], actor=labelled.alice)
    with pytest.raises(Conflict, match="not the current"):
        relabel(actor=labelled.alice, project=labelled.project, old=old, new=new, choices=Choices())


def test_labels_carried_over_into_the_old_task_leave_it_as_it_was(labelled: World) -> None:
    """The annotator, who may look at a submitted task, finds what they said there, once."""
    from annotate.tasks.read import own_task

    task = Task.objects.filter(annotator=labelled.ann).first()
    assert task is not None
    before = own_task(user=labelled.ann, task_id=task.pk)
    evolve(labelled, changed(name="Backed"))
    assert own_task(user=labelled.ann, task_id=task.pk) == before
