"""Pairs of answers, attacked: what could tell whose is whose, count a question twice or lose it, or take a pair for an
answer of a version."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from annotate.batches.edit import edit_batch
from annotate.batches.steps import delete_batch, extend_batch, open_batch
from annotate.core.blindness import SYSTEM
from annotate.models import Batch, Label, Sample, Task, Verdict
from annotate.tasks.labelling import submit_task
from annotate.tasks.write import reopen_task
from judges.certificates.triage_read import left_to_people
from judges.models import GroupSide, JudgeVersion, Side
from judges.reports.evidence import full_evidence
from judges.runs.laying import samples_in
from judges.runs.purposes import asked_units
from judges.versions.write import create_judge
from tests.annotate.factories import World, decide_unit, say
from tests.judges.certificates.test_triage_read import look_of
from tests.systems.api.test_api import get, post
from tests.systems.building import command
from tests.systems.experiments.building import create, draw, figures
from tests.systems.experiments.test_pairs import (
    QUESTIONS,
    SPEC,
    E,
    beside,
    is_v2,
    pairs,  # noqa: F401 - a fixture
    prefer,
    preference,
    row,
    the_other,
)

Write = Callable[..., Path]
GATE = {
    "version": 1,
    "candidate": "v2",
    "baseline": "v1",
    "conditions": [{"metric": "grade", "versus": "bar", "bar": 0.5}],
}
# Where all is settled by `the_other`: what is the same and what both failed are ties, and v2 failed one.
ALL = {"b": 17, "neither": 2, "a": 1, "open": 0}


def first_by_question(ending: str = "#pair1") -> dict[str, bool]:
    """Whether the baseline's answer stands first."""
    found = Sample.objects.filter(external_id__endswith=ending)
    return {one.group_key: (one.answer or "").endswith("the one.") for one in found}


def label(task: Task, value: str, **more: Any) -> None:
    assert task.annotator is not None
    say(task.annotator, task, "sample", "preference", value, **more)
    submit_task(actor=task.annotator, task_id=task.pk)


def take_back(task: Task) -> None:
    assert task.annotator is not None
    reopen_task(actor=task.annotator, task_id=task.pk)
    task.refresh_from_db(fields=["status"])


# What could tell whose is whose


def test_a_seed_and_ids_do_not_tell_which_answer_stands_first(pairs: World, settings: Any) -> None:  # noqa: F811
    found = []
    for secret in ("one installation", "another installation"):
        settings.SECRET_KEY = secret
        with transaction.atomic():
            beside()
            found.append(first_by_question())
            transaction.set_rollback(True)
    assert found[0].keys() == found[1].keys()
    assert found[0] != found[1]


def test_the_baselines_answer_moves_from_one_versions_pairs_to_anothers(
    pairs: World,  # noqa: F811
    write: Write,
    settings: Any,
) -> None:
    """Both are of the same questions in the same order, and once both had it in the same place."""
    settings.SECRET_KEY = "the same in every run"
    rows = [{**row(number, "v2"), "pipeline_version": "v3"} for number in range(QUESTIONS)]
    for one in rows:
        if "answer" in one:
            one["answer"] = one["answer"].replace("the other", "a third")
    command("import_samples", "desk", write("c.jsonl", rows))
    create(write, {**SPEC, "versions": ["v1", "v2", "v3"]}, "three")
    for version in ("v2", "v3"):
        command("draw_labels", "desk", "three", "--questions", QUESTIONS, "--seed", 7, "--beside", version)
    with_v2, with_v3 = first_by_question("#pair1"), first_by_question("#pair2")
    asked = with_v2.keys() & with_v3.keys()
    assert 0 < sum(with_v2[question] == with_v3[question] for question in asked) < len(asked)
    for batch in Batch.objects.all():
        prefer(batch, lambda task: "tie")
    of_v2, of_v3 = figures("three")["preferences"]
    assert of_v2["counts"] == {"b": 1, "neither": 18, "a": 1, "open": 0}
    assert of_v3["counts"] == of_v2["counts"]


def test_half_of_a_question_and_a_task_taken_back_tell_nothing(pairs: World) -> None:  # noqa: F811
    """In both orders: the first half submitted, then both, then one taken back."""
    figures()
    batch = beside(QUESTIONS, "--both-orders", "--annotators", "rita", "--overlap", 1)

    def told() -> bool:
        shown = {one["question"] for one in get(pairs.rita, "responses/", limit="100")["results"]}
        return "q7" in shown

    def refused() -> None:
        get(pairs.rita, f"{E}figures/", 409)
        assert post(pairs.rita, f"{E}gate/", {"gate": json.dumps(GATE)}).status_code == 409
        assert get(pairs.rita, "trend/") == {"metrics": [], "held_back": 1, "left_out": 0}

    tasks = list(Task.objects.filter(batch=batch).select_related("sample", "annotator", "batch").order_by("position"))
    one, other = [task for task in tasks if task.sample.group_key == "q7"]
    label(one, "A")
    assert not told()
    refused()
    label(other, "A")
    assert told()
    refused()
    take_back(other)
    assert not told()


# Whether all is counted once


def test_draws_in_turn_deleted_and_changed_by_hand_count_each_question_once(pairs: World) -> None:  # noqa: F811
    deleted, changed = beside(4, "--draft"), beside(4, "--draft")
    prefer(beside(5), the_other)
    draw(6)
    edit_batch(actor=pairs.alice, batch=changed, remove=[changed.samples.values_list("external_id", flat=True)[0]])
    open_batch(batch=changed)
    prefer(changed, the_other)
    assert preference()["drawn"] == 5
    delete_batch(batch=deleted)
    prefer(beside(11), the_other)
    found = preference()
    # But for what was changed by hand all are drawn, each once.
    assert found["drawn"] == sum(found["counts"].values()) == QUESTIONS - 4
    assert (found["counts"]["open"], found["labelled"]) == (0, QUESTIONS - 4)


def test_half_of_a_question_in_both_orders_is_open(pairs: World) -> None:  # noqa: F811
    batch = beside(QUESTIONS, "--both-orders")
    tasks = Task.objects.filter(batch=batch).select_related("sample", "annotator", "batch")
    for ending, counts in (("#pair1", {"b": 1, "neither": 2, "a": 1, "open": 16}), ("#pair2", ALL)):
        for task in tasks.filter(sample__external_id__endswith=ending):
            label(task, the_other(task))
        assert preference()["counts"] == counts
    assert (preference()["first"]["value"], preference()["first"]["n"]) == (0.5, 32)


def test_a_request_that_is_answered_later_opens_its_question(pairs: World, write: Write) -> None:  # noqa: F811
    prefer(beside(), the_other)
    assert preference()["counts"] == ALL
    later = [{"question_id": name, "pipeline_version": "v1", "answer": "Now."} for name in ("q1", "q3")]
    command("import_samples", "desk", write("later.jsonl", later))
    # v2 failed one of them as well, and loses it.
    assert preference()["counts"] == {"b": 16, "neither": 1, "a": 2, "open": 1}
    assert preference()["drawn"] == QUESTIONS


def test_what_a_reviewer_or_second_thoughts_change_counts_as_it_stands(pairs: World) -> None:  # noqa: F811
    batch = beside()
    first: set[int] = set()

    def differ(task: Task) -> str:
        said = "B" if task.sample_id in first else "A"
        first.add(task.sample_id)
        return said

    prefer(batch, differ)
    for verdict in Verdict.objects.select_related("sample__project"):
        decide_unit(pairs.rita, verdict, "A" if is_v2(verdict.sample.answer) else "B")
    assert preference()["counts"] == ALL
    # The verdict stands until its label was given anew, and a reviewer has decided that.
    task = Task.objects.filter(batch=batch).select_related("sample", "annotator", "batch").order_by("pk").first()
    assert task is not None
    take_back(task)
    assert preference()["counts"] == ALL
    label(task, "tie", seen=Label.objects.get(task=task).revision)
    again = Verdict.objects.select_related("sample__project").get(sample=task.sample_id)
    decide_unit(pairs.rita, again, "tie")
    assert preference()["counts"] == {"b": 16, "neither": 3, "a": 1, "open": 0}


# Whether a pair is taken for an answer of a version


@pytest.mark.parametrize("side", [Side.DEV, Side.TEST])
def test_what_is_dev_or_test_is_passed_over(pairs: World, side: Side) -> None:  # noqa: F811
    """Every draw was refused that came to it, and the order has it for good."""
    draw(1)
    order = pairs.project.experiments.get().order
    GroupSide.objects.create(project=pairs.project, criterion_key="preference", group=order[0], side=side)
    batch = beside(8)
    assert order[0] not in set(batch.samples.values_list("group_key", flat=True))
    assert preference()["drawn"] == 8
    prefer(batch, the_other)
    (criterion,) = pairs.criteria("preference")
    assert full_evidence(criterion).is_dev == {}


def test_a_pair_is_no_answer_elsewhere(pairs: World, write: Write) -> None:  # noqa: F811
    """Not for judges that take all samples, nor where a judge leaves samples to people; and scores by question and
    answer find the answer that was imported."""
    config = {"measure": "token_overlap", "unit": "answer", "dimension": "overlap", "against": "reference"}
    judge = create_judge(project=pairs.project, name="overlap", kind="lexical", config=config)
    version = judge.versions.select_related("judge__project", "endpoint").get()
    (criterion,) = pairs.criteria("grade")
    look = look_of(criterion, JudgeVersion.objects.get())

    def elsewhere() -> list[Any]:
        asked = [one.external_id for one in samples_in(pairs.project, {"all": True}) if asked_units(version, one)]
        return [asked, left_to_people(look, reader=SYSTEM)]

    before = elsewhere()
    beside()
    assert elsewhere() == before
    scores = [
        {"question": f"Question {n}?", "answer": row(n, name)["answer"], "dimension": "grade", "judge": "j", "score": 3}
        for n in range(4, QUESTIONS)
        for name in ("v1", "v2")
    ]
    assert f"created {len(scores)}" in command("import_scores", "desk", write("s.jsonl", scores))


def test_who_joins_later_takes_over_both_orders_of_a_question(pairs: World) -> None:  # noqa: F811
    """Once task by task: of 9 of 16 questions one order went to somebody else."""
    batch = beside(QUESTIONS, "--both-orders")
    first = Task.objects.filter(batch=batch, annotator=pairs.ann).order_by("position").first()
    assert first is not None
    say(pairs.ann, first, "sample", "preference", "A")
    extend_batch(actor=pairs.alice, batch=batch, annotators=[pairs.chen])
    people: dict[str, dict[str, set[int | None]]] = {}
    for task in Task.objects.filter(batch=batch).select_related("sample"):
        people.setdefault(task.sample.group_key, {}).setdefault(task.sample.external_id, set()).add(task.annotator_id)
    assert all(len(orders) == 2 and len({frozenset(who) for who in orders.values()}) == 1 for orders in people.values())
    own = Task.objects.filter(batch=batch, annotator=pairs.chen).order_by("position").select_related("sample")
    groups = [task.sample.group_key for task in own]
    assert len(groups) > 10
    assert all(one != other for one, other in pairwise(groups))
    assert first.annotator_id in people[first.sample.group_key].popitem()[1]
