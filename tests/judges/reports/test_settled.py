"""Judges are compared with settled units; what one person clicked and nobody looked at is shown on request."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from alignment.report import evidence_as_dict, evidence_from_dict
from annotate.batches.steps import count_single_labels, discount_single_labels
from annotate.labels.consensus import settle_imported
from annotate.labels.settled_read import SINGLE, STANDING, Standing
from annotate.models import Batch, Task, Verdict
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task
from annotate.verdicts.adjudication import approve
from annotate.verdicts.read import Queue
from judges.certificates.write import look_at_test
from judges.models import JudgeVersion
from judges.reports.evidence import align, fingerprint_of, full_evidence
from judges.reports.write import freeze_report
from tests.annotate.factories import World, decide_unit, finish, make_batch, make_world, say
from tests.clients import client_of
from tests.judges.building import (
    CLICKED,
    add_judge,
    add_labels,
    add_samples,
    add_scores,
    clicked_world,
    drawn_in_full,
    graded_project,
    scores_like,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


def kappa(world: World, **given: Any) -> float:
    (row,) = align(world.criteria("grade")[0], **given)["judges"]
    value: float = row["at_threshold"]["kappa"]["value"]
    return value


def test_labels_clicked_by_one_person_do_not_move_a_judge(world: World) -> None:
    before = clicked_world(world)
    found = align(world.criteria("grade")[0])
    assert found["reference"]["units"] == 90
    assert found["reference"]["settled_only"] is True
    assert found["reference"]["unsettled"] == {"single": CLICKED, "elsewhere": 0, "open": 0}
    assert found["reference"]["single_labels"] == 0
    settled, every = kappa(world), kappa(world, settled_only=False)
    assert settled == pytest.approx(0.67, abs=0.1)
    assert every < settled - 0.15
    rest = align(world.criteria("grade")[0], settled_only=False)["reference"]
    assert (rest["units"], rest["single_labels"], rest["settled_only"]) == (90 + CLICKED, CLICKED, False)
    assert before.status == "open"


def test_what_the_rest_could_change_stands_beside_the_kappa(world: World) -> None:
    clicked_world(world)
    (row,) = align(world.criteria("grade")[0])["judges"]
    left_out = row["at_threshold"]["left_out"]
    assert left_out["units"] == CLICKED
    assert left_out["none_agrees"] < row["at_threshold"]["kappa"]["value"] < left_out["all_agree"]
    (row,) = align(world.criteria("grade")[0], settled_only=False)["judges"]
    assert row["at_threshold"]["left_out"] is None


def test_a_single_label_settles_once_a_reviewer_approved_it_or_an_admin_said_so(world: World) -> None:
    batch = clicked_world(world)
    (grade,) = world.criteria("grade")
    first = Verdict.objects.filter(criterion=grade, batch=batch).order_by("sample_id")[0]
    approve(reviewer=world.rita, project=world.project, verdict_id=first.pk, expected_revision=first.revision)
    assert align(grade)["reference"]["unsettled"] == {"single": CLICKED - 1, "elsewhere": 0, "open": 0}

    count_single_labels(actor=world.alice, batch=batch)
    found = align(grade)["reference"]
    assert (found["units"], found["unsettled"]) == (90 + CLICKED, {"single": 0, "elsewhere": 0, "open": 0})
    (declared,) = found["declared"]
    assert (declared["units"], declared["by"], declared["batch"]) == (CLICKED - 1, world.alice.name, batch.number)
    assert found["single_labels"] == CLICKED - 1

    discount_single_labels(actor=world.alice, batch=batch)
    assert align(grade)["reference"]["unsettled"] == {"single": CLICKED - 1, "elsewhere": 0, "open": 0}


def test_labels_of_elsewhere_count_from_two_people_on_or_where_an_admin_settles_single_ones(world: World) -> None:
    samples = add_samples(world.project, ["a", "b", "c"])
    (grade,) = world.criteria("grade")
    rows = [("a", "answer", "x", 5), ("a", "answer", "y", 4), ("b", "answer", "x", 5), ("c", "answer", "x", 1)]
    add_labels(grade, samples, [*rows, ("c", "answer", "y", 5)])
    found = align(grade)["reference"]
    assert (found["units"], found["ties"], found["unsettled"]) == (1, 1, {"single": 0, "elsewhere": 1, "open": 0})
    settle_imported(project=world.project, criterion=grade, needed=1, actor=world.alice)
    found = align(grade)["reference"]
    # The admin asked for verdicts: 5 and 4 are two values, which a reviewer decides between.
    assert (found["units"], found["unsettled"]) == (1, {"single": 0, "elsewhere": 0, "open": 2})
    assert [(row["units"], row["by"], row["batch"]) for row in found["declared"]] == [(1, world.alice.name, None)]


def test_one_person_who_is_first_in_a_batch_changes_nothing_that_others_settled_elsewhere(world: World) -> None:
    """Chen clicks all units of a batch that asks two people, Ann has not come yet."""
    clicked_world(world)
    (grade,) = world.criteria("grade")
    samples = add_samples(world.project, ["tied"])
    add_labels(grade, samples, [("tied", "answer", "first", 5), ("tied", "answer", "second", 1)])
    before = align(grade)
    names = [*(f"s{place:03}" for place in range(90)), "tied"]
    batch = make_batch(world.project, [world.ann, world.chen], criteria=[grade], samples=names)
    ann, chen = (
        batch.tasks.filter(annotator=person).select_related("annotator", "sample", "batch").order_by("sample_id")
        for person in (world.ann, world.chen)
    )
    for task in chen:
        finish(task, grade=5)
    after = align(grade)
    assert after["reference"] == before["reference"]
    for figure in ("at_threshold", "spearman"):
        assert after["judges"][0][figure] == before["judges"][0][figure]
    assert fingerprint_of(full_evidence(grade), {}) == fingerprint_of(
        evidence_from_dict(json.loads(json.dumps(evidence_as_dict(full_evidence(grade))))), {}
    )
    # Once the batch is done with a unit all votes count: two say 5 where two said 1, and three of four where one did.
    for task in ann:
        finish(task, grade=5)
    done = align(grade)["reference"]
    assert done["unsettled"]["open"] > 20
    assert done["units"] + done["unsettled"]["open"] == 91


def test_settling_labels_of_elsewhere_declares_no_label_that_was_given_here(world: World) -> None:
    """Of three people who are asked, one is done: the batch settles the unit, when all are."""
    samples = add_samples(world.project, ["a", "b"])
    (grade,) = world.criteria("grade")
    add_labels(grade, samples, [("b", "answer", "x", 5)])
    batch = make_batch(world.project, world.annotators, samples=["a"], criteria=[grade])
    finish(Task.objects.select_related("sample", "batch").get(batch=batch, annotator=world.ann))
    assert settle_imported(project=world.project, criterion=grade, needed=1, actor=world.alice) == 1
    found = align(grade)["reference"]
    assert (found["units"], found["unsettled"]) == (1, {"single": 1, "elsewhere": 0, "open": 0})
    assert [(row["units"], row["batch"]) for row in found["declared"]] == [(1, None)]


def test_a_report_says_what_it_rests_on_and_the_two_are_two(world: World) -> None:
    clicked_world(world)
    (grade,) = world.criteria("grade")
    settled, every = freeze_report(criterion=grade), freeze_report(criterion=grade, labels="all")
    assert (settled.parameters["labels"], every.parameters["labels"]) == ("settled", "all")
    assert settled.fingerprint != every.fingerprint
    assert freeze_report(criterion=grade, labels="all").pk == every.pk
    # Half of what one person labelled is test since then, and closed.
    again = freeze_report(criterion=grade)
    assert again.pk != settled.pk
    assert freeze_report(criterion=grade).pk == again.pk


def test_the_api_gives_both(world: World) -> None:
    clicked_world(world)
    client = client_of(world.alice)
    url = f"/api/projects/{world.project.slug}/criteria/grade/alignment/"
    before = client.get(url)
    assert (before.status_code, before.json()["error"]["message"]) == (
        404,
        "The samples labelled on “grade” are not split into dev and test sets yet. Create a report first.",
    )
    freeze_report(criterion=world.criteria("grade")[0], labels="all")
    units = [client.get(url + query).json()["reference"]["units"] for query in ("", "?labels=settled", "?labels=all")]
    assert units == [90, 90, 90 + CLICKED]
    assert client.get(url + "?labels=most").status_code == 422


def test_what_several_people_labelled_counts_for_people_before_it_is_settled(world: World) -> None:
    """Two of three differ from the third on a batch that wants all to agree: open, and people's all the same."""
    samples = add_samples(world.project, [f"s{place:02}" for place in range(40)])
    (grade,) = world.criteria("grade")
    add_judge(
        world.project, "judge", samples, [(n, "answer", float(int(n[1:]) % 2)) for n in samples], dimension="grade"
    )
    batch = make_batch(world.project, world.annotators, criteria=[grade], consensus="unanimous")
    for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch"):
        place = int(task.sample.external_id[1:])
        differs = place % 4 == 0 and task.annotator == world.chen
        finish(task, grade=5 if (place % 2 == 1) is not differs else 1)
    report = freeze_report(criterion=grade)
    assert report.result["reference"]["unsettled"] == {"single": 0, "elsewhere": 0, "open": 10}
    assert report.result["reference"]["units"] == 30
    assert report.result["agreement"]["units"] == 40
    (judge,) = report.result["judges"]
    # On what is settled judge and people agree; people with each other don't, and the ceiling says so.
    assert judge["at_threshold"]["kappa"]["value"] == 1
    assert judge["people"]["human"]["value"] < 1
    assert judge["people"]["human"]["n"] > judge["at_threshold"]["kappa"]["n"]
    assert (judge["spearman"]["n"], judge["at_threshold"]["left_out"]["all_agree"]) == (20, 1)


def test_labels_that_came_too_fast_are_counted_and_what_kappa_is_without_them(world: World) -> None:
    batch = clicked_world(world)
    for place, task in enumerate(Task.objects.filter(batch=batch).order_by("pk")):
        at = batch.opened_at + timedelta(seconds=0.2 * (place + 1))
        Task.objects.filter(pk=task.pk).update(submitted_at=at, active_seconds=30)
    (grade,) = world.criteria("grade")
    settled = freeze_report(criterion=grade).result["too_fast"]
    every = freeze_report(criterion=grade, labels="all").result
    assert (settled["labels"], settled["units"], every["too_fast"]["units"]) == (CLICKED, 0, CLICKED)
    (person,) = settled["people"]
    assert (person["labels"], person["of"]) == (CLICKED, CLICKED)
    (without,), (judge,) = every["too_fast"]["judges"], every["judges"]
    assert without["kappa"] > judge["at_threshold"]["kappa"]["value"] + 0.1


def test_reviewers_find_single_labels_by_the_same_rule(world: World) -> None:
    """`IS_SINGLE`, `SINGLE` and `STANDING` say the same of every verdict."""
    batch = clicked_world(world)
    (grade,) = world.criteria("grade")
    settle_imported(project=world.project, criterion=grade, needed=2)
    names = ["alone", "two"]
    samples = add_samples(world.project, names)
    add_labels(grade, samples, [("alone", "answer", "x", 5), ("two", "answer", "x", 5), ("two", "answer", "y", 5)])
    settle_imported(project=world.project, criterion=grade, needed=1)
    first, second = Verdict.objects.filter(batch=batch).order_by("pk")[:2]
    approve(reviewer=world.rita, project=world.project, verdict_id=first.pk, expected_revision=first.revision)
    decide_unit(world.rita, second, 1)

    def listed() -> set[int]:
        return set(Queue(world.project, reader=world.rita, state="single").ids())

    def by_rule() -> set[int]:
        single = Verdict.objects.alias(standing=STANDING).filter(standing=Standing.SINGLE)
        return set(single.values_list("pk", flat=True))

    def by_index() -> set[int]:
        return set(Verdict.objects.filter(SINGLE).values_list("pk", flat=True))

    assert listed() == by_rule() == by_index()
    assert len(listed()) == CLICKED - 2
    count_single_labels(actor=world.alice, batch=batch)
    assert listed() == by_rule() == by_index() == set()


def test_a_look_rests_on_settled_units_and_costs_nothing_more_when_no_figure_changes(world: World) -> None:
    batch = clicked_world(world)
    (grade,) = world.criteria("grade")
    drawn_in_full(grade)
    first = look_at_test(criterion=grade, judge_name="judge")
    assert first.result["kappa"]["n"] == 45
    # Whether labels came too fast, and who says that one is enough, is no figure of a look.
    Task.objects.filter(batch=batch).update(active_seconds=30)
    assert look_at_test(criterion=grade, judge_name="judge") == first
    count_single_labels(actor=world.alice, batch=batch)
    second = look_at_test(criterion=grade, judge_name="judge")
    # Of a batch that names its samples: settled now, and left out of the figures.
    assert (second.number, second.result["drawn"]["left_out"] > 0) == (2, True)
    Batch.objects.update(single_labels_by=world.rita)
    assert look_at_test(criterion=grade, judge_name="judge") == second


def test_single_labels_make_no_other_look(world: World) -> None:
    """A second look costs: every interval is wider."""
    batch = clicked_world(world)
    (grade,) = world.criteria("grade")
    drawn_in_full(grade)
    first = look_at_test(criterion=grade, judge_name="judge")
    listed = freeze_report(criterion=grade).result["judges"][0]["disagreements"]
    more = [f"t{place:02}" for place in range(20)]
    samples = add_samples(world.project, more)
    add_scores(JudgeVersion.objects.get(), samples, [(name, "answer", 9.0) for name in more], dimension="grade")
    unlabelled = look_at_test(criterion=grade, judge_name="judge")
    again = make_batch(world.project, [world.ben], criteria=[grade], samples=more)
    for task in Task.objects.filter(batch=again).select_related("annotator", "sample", "batch"):
        finish(task, grade=5)
    for task in Task.objects.filter(batch=batch).select_related("annotator", "sample", "batch")[:9]:
        reopen_task(actor=world.chen, task_id=task.pk)
        say(world.chen, task, "answer", "grade", 1, seen=1)
        submit_task(actor=world.chen, task_id=task.pk)
    assert look_at_test(criterion=grade, judge_name="judge") == unlabelled
    assert unlabelled.result["kappa"]["value"] == first.result["kappa"]["value"]
    assert freeze_report(criterion=grade).result["judges"][0]["disagreements"] == listed


def test_where_all_is_settled_the_rule_adds_nothing_to_the_fingerprint() -> None:
    """So that a look of before, when this was not asked, is the same look and costs nothing again."""
    project, samples = graded_project()
    add_judge(project, "judge", samples, scores_like(samples), dimension="grade")
    evidence = full_evidence(project.criteria.get(key="grade"))
    assert (dict(evidence.unsettled), any(evidence.too_fast)) == ({}, False)
    before = replace(evidence, too_fast=(), settled_only=False)
    assert fingerprint_of(before, {}) == fingerprint_of(evidence, {})


def test_the_command_says_what_is_left_out_and_how_it_would_count(world: World) -> None:
    clicked_world(world)
    (grade,) = world.criteria("grade")
    add_labels(grade, add_samples(world.project, ["x"]), [("x", "answer", "expert", 5)])
    said = {}
    for labels in ("settled", "all"):
        out = StringIO()
        call_command("align", "desk", "--criterion", "grade", "--labels", labels, stdout=out)
        said[labels] = out.getvalue()
    assert (
        f"left out: {CLICKED} of one label that no reviewer approved; 1 of one label made elsewhere" in said["settled"]
    )
    assert f"counted all the same: {CLICKED} of one label" in said["all"]
