"""Samples that several versions gave to the same words become responses to one question, once a person says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core import walking
from annotate.core.advisory import IMPORTING
from annotate.core.blindness import SYSTEM
from annotate.core.errors import Conflict, Invalid
from annotate.core.walking import Counted
from annotate.models import AuditEntry, Criterion, Sample
from annotate.samples.read import groups_of
from judges.core.split import sides_of
from judges.models import GroupSide
from judges.reports.read import report_state
from judges.reports.write import freeze_report
from systems.models import Question, Response
from systems.responses import unlinked_read
from systems.responses.linking import confirm_questions
from systems.responses.unlinked_read import Proposals, proposals
from tests.annotate.factories import World, finish, make_sample, must_take
from tests.plans import nodes, plan_of
from tests.systems.building import command, import_questions

Write = Callable[..., Path]


def given(world: World, *samples: tuple[str, str], **more: Any) -> list[Sample]:
    """Of (version, question), named s1, s2, …"""
    return [
        make_sample(world.project, number, pipeline_version=version, question=question, **more)
        for number, (version, question) in enumerate(samples, start=1)
    ]


def linked() -> list[tuple[str, str, int]]:
    found = Response.objects.select_related("sample", "version").order_by("sample")
    return [(one.sample.external_id, one.version.name, one.repeat) for one in found if one.sample]


def test_the_same_words_of_several_versions_are_proposed_and_confirmed(world: World) -> None:
    same = [(version, "Which port?") for version in ("v1", "v2", "v2", "")]
    given(world, *same, ("v1", "Alone?"))
    (proposal,) = proposals(world.project)
    assert (proposal.text, proposal.counts, proposal.question) == ("Which port?", {"v1": 1, "v2": 2}, None)
    assert not Response.objects.exists()
    done = confirm_questions(actor=world.alice, project=world.project, keys=[proposal.key])
    assert (done.questions, done.responses) == (1, 3)
    assert linked() == [("s1", "v1", 0), ("s2", "v2", 0), ("s3", "v2", 1)]
    question = Question.objects.get()
    assert question.revisions.get().text == "Which port?"
    assert groups_of(world.project) == dict.fromkeys(("s1", "s2", "s3"), question.external_id)
    assert proposals(world.project) == []
    entry = AuditEntry.objects.get(action="questions.confirmed")
    assert (entry.actor, entry.details) == (world.alice, {"questions": 1, "responses": 3})


def test_a_later_version_joins_the_question_that_is_there(world: World, write: Write) -> None:
    import_questions(write("q.jsonl", [{"id": "q1", "question": "Which port?", "group_key": "ports"}]))
    given(world, ("v3", "Which port?"))
    rows = [{"question_id": "q1", "pipeline_version": "v3", "answer": "8000."}]
    command("import_samples", "desk", write("a.jsonl", rows))
    confirm_questions(actor=None, project=world.project, keys=None)
    assert linked() == [("s1", "v3", 1), ("q1@v3", "v3", 0)]
    assert Sample.objects.get(external_id="s1").group_key == "ports"
    assert Question.objects.count() == 1


def test_what_can_be_no_one_question_is_told_apart(world: World, write: Write) -> None:
    first, second = given(world, ("v1", "Which port?"), ("v2", "Which port?"))
    Sample.objects.filter(pk=first.pk).update(group_key="a")
    Sample.objects.filter(pk=second.pk).update(group_key="b")
    (proposal,) = proposals(world.project)
    assert (proposal.groups, proposal.can_be_confirmed) == ({"a", "b"}, False)
    with pytest.raises(Invalid, match="no longer proposed"):
        confirm_questions(actor=None, project=world.project, keys=[proposal.key])
    Sample.objects.update(group_key="a")
    confirm_questions(actor=None, project=world.project, keys=None)
    assert Question.objects.get().group_key == "a"
    with pytest.raises(Invalid):
        confirm_questions(actor=None, project=world.project, keys=["nothing"])


def test_they_are_listed_stretch_by_stretch(world: World, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    import_questions(write("q.jsonl", [{"id": name, "question": "Said twice?"} for name in ("q1", "q2")]))
    words = ("Which port?", "Alone?", "Said twice?", "In groups?", "How fast?")
    samples = given(world, *((version, text) for version in ("v1", "v2", "") for text in words if text != "Alone?"))
    make_sample(world.project, 20, pipeline_version="v1", question="Alone?")
    Sample.objects.filter(question="In groups?").exclude(pk=samples[3].pk).update(group_key="a")
    Sample.objects.filter(pk=samples[2].pk).update(group_key="b")
    Sample.objects.filter(pk=samples[2 + 4].pk).update(group_key="c")
    every = proposals(world.project)
    assert len(every) == 4
    found = Proposals(world.project)
    for stretch in (1000, 3, 1):
        monkeypatch.setattr(unlinked_read, "STRETCH", stretch)
        monkeypatch.setattr(walking, "SECONDS", 60)
        assert found.after(None, 10).rows == every
        assert found.after(None, 10, backwards=True).rows == every[::-1]
        assert found.after(every[0].samples[0], 2).rows == every[1:3]
        assert found.after(every[3].samples[0], 2, backwards=True).rows == every[1:3][::-1]
        assert found.counted() == Counted(4, is_all=True)
        assert found.counted_to_confirm() == Counted(sum(one.can_be_confirmed for one in every), is_all=True)
        # With no time one stretch is looked through, and where it ended is a place in the list.
        monkeypatch.setattr(walking, "SECONDS", -1)
        walked = found.after(None, 10)
        assert walked.rows == [one for one in every if walked.reached is None or one.samples[0] <= walked.reached]
    assert found.counted() == Counted(1, is_all=False)
    assert found.position(found.cursor(every[0])) == every[0].samples[0]
    assert [found.position(cursor) for cursor in ("", "x", "-1", "9" * 30)] == [None] * 4


def test_a_stretch_looks_samples_up_by_their_question(world: World) -> None:
    # Of few samples any index will do.
    given(world, *[("v1", f"Which port, {number}?") for number in range(200)], ("v2", "Which port, 3?"))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotate_sample")
    with CaptureQueriesContext(connection) as asked:
        Proposals(world.project).after(None, 10)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    plan = plan_of(next(query["sql"] for query in asked if "WITH part" in query["sql"]), run=False)
    looked_up = {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
    assert {"sample_by_question", "question_by_text"} <= looked_up


def test_two_questions_of_the_same_words_are_ambiguous(world: World, write: Write) -> None:
    rows = [{"id": name, "question": "Which port?"} for name in ("q1", "q2")]
    import_questions(write("q.jsonl", rows))
    given(world, ("v1", "Which port?"), ("v2", "Which port?"))
    (proposal,) = proposals(world.project)
    assert not proposal.can_be_confirmed


def test_not_while_an_import_is_written(world: World) -> None:
    given(world, ("v1", "Which port?"), ("v2", "Which port?"))
    importer = connection.copy()
    try:
        with importer.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s::int, %s::int)", [IMPORTING, world.project.pk])
        with pytest.raises(Conflict, match="Another import"):
            confirm_questions(actor=None, project=world.project, keys=None)
    finally:
        importer.close()
    assert not Response.objects.exists()


def test_what_lay_on_both_sides_is_dev_and_what_rested_on_it_is_out_of_date(world: World) -> None:
    given(world, ("v1", "Which port?"), ("v2", "Which port?"))
    batch = world.batch(criteria=["grade"], annotators=[world.ann], overlap=1)
    for _ in range(2):
        finish(must_take(world.ann, batch))
    grade = Criterion.objects.get(project=world.project, key="grade", is_current=True)
    freeze_report(criterion=grade)
    GroupSide.objects.filter(criterion_key="grade").delete()
    for name, side in (("s1", "dev"), ("s2", "test")):
        GroupSide.objects.create(project=world.project, criterion_key="grade", group=name, side=side)
    assert sides_of(grade, ["s1", "s2"]) == {"s1": True, "s2": False}
    assert not report_state(grade, reader=SYSTEM).is_out_of_date
    confirm_questions(actor=world.alice, project=world.project, keys=None)
    assert sides_of(grade, ["s1", "s2"]) == {"s1": True, "s2": True}
    assert report_state(grade, reader=SYSTEM).is_out_of_date
