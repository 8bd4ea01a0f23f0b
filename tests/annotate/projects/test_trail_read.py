"""The trail: written by every writer, never rewritten, read page by page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.batches.steps import close_batch, delete_batch
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.trail import note
from annotate.labels.consensus import settle_imported
from annotate.models import AuditEntry, ClaimEdit, Label, LabelEvent, Release, User, Verdict, VerdictEvent
from annotate.projects.accounts import make_token, revoke_token
from annotate.projects.criteria import add_criteria
from annotate.projects.trail_read import TrailFilter, kinds_of, read_filter, trail, unit_history, whole_trail
from annotate.projects.write import change_project, remove_member, set_member
from annotate.tasks.label_changes import LabelInput
from annotate.tasks.labelling import save_label, submit_task
from tests.annotate.factories import TRISTATE, World, decide_unit, finish, make_sample, make_samples, say
from tests.plans import plan_of, rows_read


@pytest.fixture
def disputed(world: World) -> World:
    """One sample: Ann says yes to both claims, Ben says no to both."""
    make_sample(world.project)
    batch = world.batch(criteria=["support"], annotators=[world.ann, world.ben])
    finish(batch.tasks.get(annotator=world.ann), support="yes")
    finish(batch.tasks.get(annotator=world.ben), support="no")
    return world


def events_of(verdict: Verdict) -> list[tuple[Any, ...]]:
    rows = VerdictEvent.objects.filter(verdict=verdict).order_by("id")
    return list(rows.values_list("revision", "state", "value", "method", "actor__username"))


# Written


def test_every_state_of_a_verdict_is_logged(disputed: World) -> None:
    verdict = Verdict.objects.get(unit="claim:0")
    decide_unit(disputed.rita, verdict, "no", "Read it.")
    assert events_of(verdict) == [
        (1, "disputed", None, "", None),
        (2, "settled", "no", "adjudicated", "rita"),
    ]


def test_a_decision_that_is_reopened_is_not_the_reviewers_doing(disputed: World) -> None:
    verdict = Verdict.objects.get(unit="claim:0")
    decide_unit(disputed.rita, verdict, "no", "Read it.")
    second = disputed.batch(criteria=["support"], annotators=[disputed.chen], overlap=1)
    finish(second.tasks.get(), support="yes")
    assert events_of(verdict)[-1] == (3, "reopened", "no", "adjudicated", None)


def test_a_hand_at_the_database_is_logged_too(disputed: World) -> None:
    verdict = Verdict.objects.get(unit="claim:1")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotate_verdict SET state = 'settled', value = '\"yes\"', method = 'majority' WHERE id = %s",
            [verdict.pk],
        )
        # Nothing that a verdict says.
        cursor.execute("UPDATE annotate_verdict SET batch_id = NULL WHERE id = %s", [verdict.pk])
    assert events_of(verdict) == [(1, "disputed", None, "", None), (1, "settled", "yes", "majority", None)]


def test_many_verdicts_of_one_statement_are_logged(world: World) -> None:
    criterion = world.criteria("grade")[0]
    rater = world.project.raters.get(user=world.ann)
    for sample in make_samples(world.project, 3):
        Label.objects.create(rater=rater, sample=sample, unit="answer", criterion=criterion, value=4)
    settle_imported(project=world.project, criterion=criterion, needed=1)
    Verdict.objects.update(votes=[])
    assert settle_imported(project=world.project, criterion=criterion, needed=1, actor=world.alice) == 3
    assert [len(events_of(verdict)) for verdict in Verdict.objects.all()] == [3, 3, 3]


def entries(*fields: str) -> list[tuple[Any, ...]]:
    return list(AuditEntry.objects.order_by("id").values_list(*fields))


def test_members_are_noted_with_who_did_it(world: World) -> None:
    seen = AuditEntry.objects.count()
    set_member(project=world.project, user=world.charlie, role="annotator", actor=world.alice)
    set_member(project=world.project, user=world.charlie, role="annotator", actor=world.alice)  # nothing changes
    set_member(project=world.project, user=world.charlie, role="reviewer", actor=world.alice)
    remove_member(project=world.project, user=world.charlie, actor=world.alice)
    assert entries("actor__username", "action", "subject", "details")[seen:] == [
        ("alice", "member.added", "charlie", {"role": "annotator"}),
        ("alice", "member.role_changed", "charlie", {"role": "reviewer", "before": "annotator"}),
        ("alice", "member.removed", "charlie", {"role": "reviewer"}),
    ]


def test_what_is_refused_is_not_noted(disputed: World) -> None:
    seen = AuditEntry.objects.count()
    batch = disputed.project.batches.get()
    with pytest.raises(Conflict):
        delete_batch(batch=batch, actor=disputed.alice)
    with pytest.raises(Conflict):
        set_member(project=disputed.project, user=disputed.alice, role="annotator", actor=disputed.alice)
    assert AuditEntry.objects.count() == seen


def test_projects_criteria_batches_and_tokens_are_noted(world: World) -> None:
    make_sample(world.project)
    seen = AuditEntry.objects.count()
    change_project(project=world.project, name="Desk", guidelines="", actor=world.alice)
    change_project(project=world.project, name="Desk", guidelines="", actor=world.alice)  # nothing changes
    add_criteria(project=world.project, specs=[{**TRISTATE, "prompt": "Is it?"}], actor=world.alice)
    batch = world.batch(criteria=["support"])
    add_criteria(project=world.project, specs=[{**TRISTATE, "prompt": "Is it so?"}], actor=world.alice)
    close_batch(batch=batch, actor=world.alice)
    token, _ = make_token(actor=world.alice)
    assert revoke_token(actor=world.alice, token_id=token.token_key)
    assert not revoke_token(actor=world.alice, token_id=token.token_key)
    assert entries("action", "subject")[seen:] == [
        ("project.changed", "Desk"),
        ("criterion.changed", "support"),
        ("batch.created", "A batch"),
        ("batch.opened", "A batch"),
        ("criterion.versioned", "support"),
        ("batch.closed", "A batch"),
        ("token.created", token.token_key),
        ("token.revoked", token.token_key),
    ]


# Never rewritten


@pytest.mark.parametrize("statement", ["UPDATE annotate_{} SET created_at = now()", "DELETE FROM annotate_{}"])
@pytest.mark.parametrize("table", ["labelevent", "verdictevent", "auditentry", "claimedit"])
def test_a_log_can_not_be_rewritten(disputed: World, table: str, statement: str) -> None:
    sample = disputed.project.samples.get()
    ClaimEdit.objects.create(sample=sample, revision=2, change={}, claims=[], actor=disputed.rita)
    with (
        pytest.raises(IntegrityError, match=f"on annotate_{table} is refused"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table))


@pytest.mark.parametrize("table", ["label", "verdict", "release"])
def test_what_was_said_and_sent_out_does_not_vanish(disputed: World, table: str) -> None:
    Release.objects.create(project=disputed.project, number=1, file_format="jsonl", stored_as="x")
    with (
        pytest.raises(IntegrityError, match=f"DELETE on annotate_{table} is refused"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"DELETE FROM annotate_{table}")


# Read


def value_tellers(world: World, reader: User) -> list[tuple[Any, ...]]:
    rows = trail(project=world.project, reader=reader, asked=TrailFilter(), size=1000).rows
    told = ("value", "before", "cant_tell", "comment", "reason")
    return sorted(
        (row.action, row.actor.username if row.actor else "", row.subject, bool(row.details.get("held_back")),
         [row.details[name] for name in told if row.details.get(name) not in (None, "")])
        for row in rows
        if row.action in ("label.saved", "verdict.disputed", "verdict.settled", "gold.set")
    )  # fmt: skip


def test_what_others_said_of_a_sample_that_one_still_has_to_label_is_held_back(disputed: World) -> None:
    """Whatever one's role; what one said oneself, other samples, and that something was said, are told."""
    make_sample(disputed.project, 2)
    verdict = Verdict.objects.get(unit="claim:0")
    decide_unit(disputed.rita, verdict, "no", "Says no.")
    # As earlier versions noted each answer that was made known.
    for actor, subject, value in (
        (disputed.alice, "s1: claim:1", "yes"),
        (disputed.rita, "s2: claim:1", "yes"),
        (disputed.rita, "s1: claim:0", "no"),
    ):
        note(
            actor=actor, action="gold.set", subject=subject, project=disputed.project, criterion="support", value=value
        )
    everything = value_tellers(disputed, disputed.alice)
    assert not any(held for _, _, _, held, _ in everything)
    batch = disputed.batch(
        criteria=["support"], annotators=[disputed.alice], overlap=1,
        selection={"method": "list", "samples": ["s1"]},
    )  # fmt: skip
    task = batch.tasks.get()
    say(disputed.alice, task, "claim:0", "support", "yes")
    held = value_tellers(disputed, disputed.alice)
    assert [row[:3] for row in held] == sorted([row[:3] for row in everything] + [("label.saved", "alice", "s1")])
    assert [row for row in held if not row[3]] == [
        ("gold.set", "alice", "s1: claim:1", False, ["yes"]),
        ("gold.set", "rita", "s2: claim:1", False, ["yes"]),
        ("label.saved", "alice", "s1", False, ["yes"]),
    ]
    assert {tuple(told) for _, _, _, is_held, told in held if is_held} == {()}
    say(disputed.alice, task, "claim:1", "support", "yes")
    submit_task(actor=disputed.alice, task_id=task.pk)
    assert not any(is_held for _, _, _, is_held, _ in value_tellers(disputed, disputed.alice))


def test_the_trail_has_labels_verdicts_and_entries_latest_first(disputed: World) -> None:
    rows = trail(project=disputed.project, reader=disputed.alice, asked=TrailFilter(), size=1000).rows
    assert [row.at for row in rows] == sorted((row.at for row in rows), reverse=True)
    actions = {row.action for row in rows}
    assert {"label.saved", "verdict.disputed", "batch.opened", "member.added", "project.created"} <= actions
    assert {row.actor.username for row in rows if row.log == "label" and row.actor} == {"ann", "ben"}


def test_a_changed_label_shows_what_it_was(world: World) -> None:
    make_sample(world.project)
    task = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get()
    say(world.ann, task, "answer", "grade", 2)
    say(world.ann, task, "answer", "grade", 5, seen=1)
    row = trail(project=world.project, reader=world.alice, asked=TrailFilter(kind="label")).rows[0]
    assert (row.details["before"], row.details["value"]) == (2, 5)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pages_follow_each_other_without_a_hole(disputed: World, size: int) -> None:
    """Also where many rows are of one moment: everything here is one transaction."""
    whole = [
        (row.log, row.id) for row in whole_trail(project=disputed.project, reader=disputed.alice, asked=TrailFilter())
    ]
    seen, after = [], None
    while True:
        page = trail(project=disputed.project, reader=disputed.alice, asked=TrailFilter(), after=after, size=size)
        seen += [(row.log, row.id) for row in page.rows]
        after = page.next
        if after is None:
            break
    assert seen == whole
    assert len(seen) == len(set(seen)) > 15


def test_the_trail_is_of_one_project(disputed: World) -> None:
    rows = list(whole_trail(project=disputed.other, reader=disputed.alice, asked=TrailFilter()))
    assert {row.log for row in rows} == {"entry"}
    assert {row.subject for row in rows} == {"Next door", "grade", "dora"}


def test_tokens_are_in_the_trail_of_the_projects_of_their_owner(world: World) -> None:
    make_token(actor=world.ann)
    asked = TrailFilter(kind="token")
    assert [row.action for row in trail(project=world.project, reader=world.alice, asked=asked).rows] == [
        "token.created"
    ]
    assert trail(project=world.other, reader=world.alice, asked=asked).rows == []
    assert "token" in kinds_of(world.project)
    assert "token" not in kinds_of(world.other)


def test_the_trail_can_be_filtered(disputed: World) -> None:
    project, make = disputed.project, disputed.project.samples.get()

    def found(**asked: Any) -> list[Any]:
        return list(whole_trail(project=project, reader=disputed.alice, asked=read_filter(project, **asked)))

    assert {row.actor for row in found(person="ben")} == {disputed.ben}
    assert {row.log for row in found(kind="verdict")} == {"verdict"}
    assert {row.action.split(".")[0] for row in found(kind="member")} == {"member"}
    assert {row.log for row in found(sample=make.external_id)} == {"label", "verdict"}
    today = LabelEvent.objects.earliest("id").created_at.date()
    assert len(found(since=str(today - timedelta(days=1)))) == len(found())
    assert found(until=str(today - timedelta(days=2))) == []
    assert found(since=str(today + timedelta(days=2))) == []


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"person": "nobody"}, "unknown_user"),
        ({"sample": "s99"}, "unknown_sample"),
        ({"since": "yesterday"}, "bad_date"),
        ({"until": "9999-12-31"}, "bad_date"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(world: World, asked: dict[str, str], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_filter(world.project, **asked)
    assert refused.value.code == code


@pytest.mark.parametrize("cursor", ["x", "é", "bm90aGluZw", "MjAyNnwxfDE", "MjAyNi0xMS0yMVQwMDowMDowMCswMDowMHw5fDE"])
def test_a_cursor_that_is_none_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(Invalid, match="cursor"):
        trail(project=world.project, reader=world.alice, asked=TrailFilter(), after=cursor)


def test_a_page_of_the_trail_costs_the_same_however_long_it_is(disputed: World) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            trail(project=disputed.project, reader=disputed.alice, asked=TrailFilter(), size=1000)
        return len(asked)

    before = queries()
    make_samples(disputed.other, 1)
    make_sample(disputed.project, 2)
    batch = disputed.batch(criteria=["support", "grade"])
    for task in batch.tasks.all():
        finish(task)
    assert queries() == before


def test_the_trail_of_one_person_is_read_without_all_that_was_ever_done(disputed: World) -> None:
    """Neither what others did since, nor the rest of what they did."""
    label = Label.objects.filter(rater__user=disputed.ann).earliest("pk")
    verdict = Verdict.objects.get(unit="claim:0")
    # Each did something each second of an hour, and rita came first.
    given = {"label": label.pk, "verdict": verdict.pk, "rita": disputed.rita.pk, "ben": disputed.ben.pk}
    who = "FROM generate_series(1, 7200) AS n CROSS JOIN LATERAL (SELECT CASE WHEN n <= 3600 THEN %(rita)s ELSE %(ben)s"
    at = "END AS actor, now() - interval '1 day' + n * interval '1 s' AS at) AS one"
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotate_labelevent (label_id, revision, comment, evidence, actor_id, idempotency_key,"
            f" created_at) SELECT %(label)s, 1 + n, '', '[]', actor, gen_random_uuid(), at {who} {at}",
            given,
        )
        cursor.execute(
            "INSERT INTO annotate_verdictevent (verdict_id, revision, state, method, votes, reason, actor_id,"
            f" created_at) SELECT %(verdict)s, 1 + n, 'settled', '', '[]', '', actor, at {who} {at}",
            given,
        )
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as asked:
        page = trail(project=disputed.project, reader=disputed.alice, asked=TrailFilter(person=disputed.rita))
    assert len(page.rows) == 50
    plan = plan_of(asked[0]["sql"])
    for log in ("annotate_labelevent", "annotate_verdictevent"):
        assert 0 < rows_read(plan, log) < 200, log


def test_the_history_of_a_unit_is_told_from_the_beginning(disputed: World) -> None:
    verdict = Verdict.objects.get(unit="claim:0")
    decide_unit(disputed.rita, verdict, "no", "Read it.")
    history = unit_history(sample=disputed.project.samples.get(), reader=SYSTEM)
    assert set(history) == {"claim:0", "claim:1"}
    told = [(row.action, row.actor and row.actor.username) for row in history["claim:0"]]
    assert told == [
        ("label.saved", "ann"), ("label.saved", "ben"), ("verdict.disputed", None), ("verdict.settled", "rita"),
    ]  # fmt: skip


def test_saving_names_the_one_who_saved(world: World) -> None:
    make_sample(world.project)
    task = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1).tasks.get()
    save_label(
        actor=world.ann, task_id=task.pk, said=LabelInput("answer", "grade", 3), expected_revision=0,
        idempotency_key="0a0a0a0a-0000-4000-8000-000000000001",
    )  # fmt: skip
    assert LabelEvent.objects.get().actor == world.ann
