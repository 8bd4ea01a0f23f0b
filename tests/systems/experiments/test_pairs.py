"""Answers side by side: which pairs are asked about, what nobody is told, and what people's preferences come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from annotate.batches.steps import delete_batch
from annotate.models import AuditEntry, Batch, BatchSample, Sample, Task
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from judges.models import GroupSide, Side
from systems.models import ComposedSample, Experiment, PairDraw
from tests.annotate.factories import World, say
from tests.clients import client_of
from tests.systems.api.test_api import get, post
from tests.systems.building import command, freeze, import_questions, refused
from tests.systems.experiments.building import create, create_refused, draw, figures

Write = Callable[..., Path]

QUESTIONS = 20
# The versions say the same, v1 failed, v2 did, and both.
SAME, V1_FAILED, V2_FAILED, BOTH_FAILED = "q0", "q1", "q2", "q3"
SPEC: dict[str, Any] = {
    "set": "support@1",
    "versions": ["v1", "v2"],
    "metrics": [{"criterion": "grade"}],
    "rule": {"primary": "grade", "margin": 0.05},
}
E = "experiments/v2-or-v1/"


def row(number: int, version: str) -> dict[str, Any]:
    question, said = f"q{number}", f"Answer {number} by the one."
    failed = {"v1": (V1_FAILED, BOTH_FAILED), "v2": (V2_FAILED, BOTH_FAILED)}
    if question in failed[version]:
        return {"question_id": question, "pipeline_version": version, "status": "failed", "error": "timeout"}
    if version == "v2" and question != SAME:
        said = f"Answer {number} by the other."
    return {"question_id": question, "pipeline_version": version, "answer": said}


@pytest.fixture
def pairs(world: World, write: Write) -> World:
    add_criteria(project=world.project, specs=["preference"])
    asked = [{"id": f"q{n}", "question": f"Question {n}?", "reference": f"Answer {n}."} for n in range(QUESTIONS)]
    import_questions(write("q.jsonl", asked))
    freeze()
    rows = [row(n, version) for version in ("v1", "v2") for n in range(QUESTIONS)]
    command("import_samples", "desk", write("a.jsonl", rows))
    create(write, SPEC)
    return world


def beside(questions: int = QUESTIONS, *more: Any) -> Batch:
    return draw(questions, "--beside", "v2", *more)


def is_v2(text: str | None) -> bool:
    return text is not None and text.endswith("the other.")


def prefer(batch: Batch, choose: Callable[[Task], str]) -> None:
    """Everyone labels all of the batch."""
    for task in Task.objects.filter(batch=batch, status="pending").select_related("sample", "annotator", "batch"):
        say(task.annotator, task, "sample", "preference", choose(task))
        submit_task(actor=task.annotator, task_id=task.pk)


def the_other(task: Task) -> str:
    return "A" if is_v2(task.sample.answer) else "B"


def preference() -> dict[str, Any]:
    (found,) = figures()["preferences"]
    return found  # type: ignore[no-any-return]


def test_pairs_are_asked_about_and_nothing_says_whose_they_are(pairs: World) -> None:
    batch = beside()
    samples = list(batch.samples.all())
    assert {sample.group_key for sample in samples} == {f"q{n}" for n in range(4, QUESTIONS)}
    # Either version stands first equally often.
    assert Counter(is_v2(sample.answer) for sample in samples) == {True: 8, False: 8}
    for sample in samples:
        assert is_v2(sample.answer) != is_v2(sample.answer_b)
        assert sample.composed
        assert (sample.pipeline_version, sample.metadata, sample.contexts) == ("", {}, [])
        assert sample.reference == f"Answer {sample.group_key[1:]}."
        assert sample.external_id == f"{sample.group_key}#pair1"
    assert (batch.selection["came"], batch.overlap) == ("experiment", 2)
    assert list(batch.criteria.values_list("key", flat=True)) == ["preference"]
    assert {one.probability for one in BatchSample.objects.filter(batch=batch)} == {1.0}
    assert set(GroupSide.objects.values_list("criterion_key", "side")) == {("preference", Side.SYSTEMS)}
    entry = AuditEntry.objects.get(action="experiment.pairs_drawn")
    assert entry.details == {
        "batch": batch.number, "version": "v2", "questions": QUESTIONS, "samples": 16, "seed": 7, "both_orders": False,
    }  # fmt: skip
    task = Task.objects.filter(batch=batch).select_related("annotator").first()
    assert task is not None
    seen = client_of(task.annotator).get(f"/api/tasks/{task.pk}/").content.decode()
    assert "v1" not in seen
    assert "v2" not in seen


def test_what_people_prefer(pairs: World) -> None:
    batch = beside()
    prefer(batch, lambda task: "tie" if task.sample.group_key in ("q4", "q5") else the_other(task))
    found = preference()
    # 14 by people and one that v1 failed; two ties, one pair that is the same, one that both failed; one v2 failed.
    assert found["counts"] == {"b": 15, "neither": 4, "a": 1, "open": 0}
    assert (found["a"], found["b"], found["questions"], found["drawn"], found["labelled"]) == ("v1", "v2", 20, 20, 20)
    assert found["win_rate"]["value"] == pytest.approx((15 + 0.5 * 4) / 20)
    assert found["difference"]["value"] == pytest.approx((15 - 1) / 20)
    assert (found["verdict"], found["unresolved"]) == ("better", 0)
    # Of 16 pairs, half of which had v2 first.
    assert found["first"]["n"] == 16
    told = command("experiment", "desk", "v2-or-v1", "--format", "markdown")
    assert "v2 preferred: 15, About the same: 4, v1 preferred: 1" in told
    table = command("experiment", "desk", "v2-or-v1", "--format", "table")
    assert "v2 beside v1: 15 prefer v2, 4 neither, 1 v1, 0 open; win rate 0.850 " in table


def test_who_always_takes_the_first_prefers_neither_version(pairs: World) -> None:
    prefer(beside(), lambda task: "A")
    found = preference()
    assert found["win_rate"]["value"] == pytest.approx((8 + 1 + 0.5 * 2) / 20)
    assert (found["verdict"], found["first"]["value"]) == ("cannot_tell", 1.0)
    assert found["first"]["low"] > 0.5


def test_both_orders_are_two_samples_of_one_question(pairs: World) -> None:
    batch = beside(QUESTIONS, "--both-orders")
    by_question: dict[str, list[Sample]] = {}
    for sample in batch.samples.order_by("id"):
        by_question.setdefault(sample.group_key, []).append(sample)
    for one, other in by_question.values():
        assert (one.answer, one.answer_b) == (other.answer_b, other.answer)
    for person in {task.annotator_id for task in Task.objects.filter(batch=batch)}:
        had = Task.objects.filter(batch=batch, annotator=person).order_by("position")
        groups = [task.sample.group_key for task in had.select_related("sample")]
        assert all(one != after for one, after in pairwise(groups))
        assert set(Counter(groups).values()) == {2}
    # Who takes the first in both says that neither is better.
    prefer(batch, lambda task: "A")
    assert preference()["counts"] == {"b": 1, "neither": 18, "a": 1, "open": 0}


def test_what_is_not_settled_is_open(pairs: World) -> None:
    batch = beside()
    first = {}

    def differ(task: Task) -> str:
        return first.setdefault(task.sample_id, "A") if task.sample_id not in first else "B"

    prefer(batch, differ)
    found = preference()
    assert found["counts"]["open"] == 16
    assert (found["verdict"], found["reason"]["code"]) == ("cannot_tell", "too_many_unresolved")
    assert found["first"] is None


def test_later_draws_go_on_in_the_order_of_labels(pairs: World) -> None:
    first = beside(8)
    order = Experiment.objects.get().order
    assert PairDraw.objects.get().groups == order[:8]
    labels = draw(5)
    assert set(labels.samples.values_list("group_key", flat=True)) <= set(order[:5])
    more = beside(4)
    assert PairDraw.objects.get(batch=more).groups == order[8:12]
    chances = BatchSample.objects.filter(batch=more).values_list("probability", flat=True)
    assert set(chances) == {12 / QUESTIONS}
    assert first.number == 1
    assert Experiment.objects.get().order == order
    asked = "draw_labels", "desk", "v2-or-v1", "--questions"
    assert "seed 7" in refused(*asked, 2, "--seed", 8, "--beside", "v2")
    assert "Only 8 questions can be drawn; 9 can’t." in refused(*asked, 9, "--seed", 7, "--beside", "v2")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--beside", "v1"), "“v1” is none of the versions that are compared with the baseline: v2"),
        (("--both-orders",), "Only pairs of answers can be shown in both orders"),
    ],
)
def test_what_can_not_be_compared_is_refused(pairs: World, more: tuple[str, ...], said: str) -> None:
    assert said in refused("draw_labels", "desk", "v2-or-v1", "--questions", 3, "--seed", 7, *more)
    assert not Batch.objects.exists()
    assert not ComposedSample.objects.exists()


def test_without_the_criterion_nothing_is_drawn(world: World, write: Write) -> None:
    import_questions(write("q.jsonl", [{"id": f"q{n}", "question": f"Question {n}?"} for n in range(8)]))
    freeze()
    rows = [row(n, version) for version in ("v1", "v2") for n in range(8)]
    command("import_samples", "desk", write("a.jsonl", rows))
    create(write, SPEC)
    told = refused("draw_labels", "desk", "v2-or-v1", "--questions", 3, "--seed", 7, "--beside", "v2")
    assert "no criterion “preference” on samples" in told
    assert Experiment.objects.get().seed is None


def test_a_deleted_draft_leaves_nothing(pairs: World) -> None:
    batch = beside(8, "--draft")
    assert PairDraw.objects.exists()
    assert figures()["preferences"] == []
    delete_batch(batch=batch)
    assert not PairDraw.objects.exists()
    assert not ComposedSample.objects.exists()
    assert not Sample.objects.filter(composed=True).exists()


def test_who_has_a_pair_to_label_sees_no_response_and_no_figures(pairs: World) -> None:
    """Also reviewers and admins, as long as they label."""
    post(pairs.alice, f"{E}figures/", {})
    reply = post(
        pairs.alice, f"{E}draw/", {"questions": 20, "seed": 7, "beside": "v2", "annotators": ["alice", "rita"]}
    )
    assert reply.status_code == 201, reply.content
    assert reply.json() == {"batch": 1, "status": "open", "questions": 20, "samples": 16, "population": 20}
    assert [one["beside"] for one in get(pairs.alice, E)["draws"]] == ["v2"]
    for reader in (pairs.alice, pairs.rita):
        shown = {one["question"] for one in get(reader, "responses/?limit=100")["results"]}
        assert shown == {SAME, V1_FAILED, V2_FAILED, BOTH_FAILED}
        get(reader, f"{E}figures/", 409)
    prefer(Batch.objects.get(), the_other)
    assert len(get(pairs.rita, "responses/?limit=100")["results"]) == 2 * QUESTIONS
    assert get(pairs.rita, f"{E}figures/")["is_out_of_date"] is True
    post(pairs.alice, f"{E}figures/", {})
    (found,) = get(pairs.rita, f"{E}figures/")["figures"]["preferences"]
    assert found["counts"] == {"b": 17, "neither": 2, "a": 1, "open": 0}


def test_a_preference_is_no_metric_of_single_answers(pairs: World, write: Write) -> None:
    told = create_refused(write, {**SPEC, "metrics": [{"criterion": "preference"}]}, "other")
    assert "metrics[0].criterion" in told
    assert "preference" not in told.partition("expected")[2]


def test_of_single_pairs_either_version_stands_first(pairs: World, settings: Any) -> None:
    """The one more of an odd number once was always the version's, so that many draws favoured it."""
    settings.SECRET_KEY = "the same in every run"
    first = set()
    for seed in range(8):
        with transaction.atomic():
            batch = draw(5, "--beside", "v2", seed=seed)
            first.add(Counter(is_v2(sample.answer) for sample in batch.samples.all())[True] * 2 > batch.samples.count())
            transaction.set_rollback(True)
    assert first == {True, False}


def test_labels_on_a_later_repeat_say_nothing_of_one_that_came_after_them(world: World, write: Write) -> None:
    add_criteria(project=world.project, specs=["preference"])
    numbers = range(4, 10)
    import_questions(write("q.jsonl", [{"id": f"q{n}", "question": f"Question {n}?"} for n in numbers]))
    freeze()
    rows = [row(n, version) for version in ("v1", "v2") for n in numbers]
    command("import_samples", "desk", write("a.jsonl", [{**one, "repeat": 1} for one in rows]))
    create(write, SPEC)
    prefer(beside(len(numbers)), the_other)
    assert preference()["counts"] == {"b": 6, "neither": 0, "a": 0, "open": 0}
    earlier = {**row(4, "v2"), "answer": "Something else.", "repeat": 0}
    command("import_samples", "desk", write("b.jsonl", [earlier]))
    assert preference()["counts"] == {"b": 5, "neither": 0, "a": 0, "open": 1}
