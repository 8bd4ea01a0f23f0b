"""Samples without an answer: golden sets, and questions with passages. Nothing that is about the answer asks them."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.labels.consensus import settle_imported
from annotate.models import Label, Sample, Task, Verdict
from annotate.projects.write import add_criteria
from tests.annotate.factories import World
from tests.clients import as_user, client_of

API = "/api/projects/desk/"
TREC = {
    "id": "t1",
    "query": "What runs?",
    "passages": [{"docid": "d1", "text": "A fox."}, {"docid": "d2", "text": "Snow."}],
}
GOLDEN = {
    "id": "g1", "query": "Which port?", "relevant_doc_ids": ["kb/ports"], "reference_answer": "8000.",
    "key_facts": ["8000"], "metadata": {"level": "easy"},
}  # fmt: skip
SOURCED = {
    "id": "g2",
    "question": "And TLS?",
    "ground_truth": "No.",
    "source_doc_id": "kb/tls",
    "source_content": "None.",
}
ANSWERED = {
    "id": "a1",
    "question": "When?",
    "answer": "At nine. Daily.",
    "contexts": ["From nine."],
    "key_facts": ["nine"],
}
FACT_IN_ANSWER = {"key": "fact_in_answer", "unit": "fact", "scale": "binary", "prompt": "Is it in the answer?",
                  "options": [{"value": "yes"}, {"value": "no"}]}  # fmt: skip


@pytest.fixture
def world(world: World) -> World:
    add_criteria(project=world.project, specs=[FACT_IN_ANSWER], actor=world.alice)
    return world


def send(world: World, rows: Any, name: str = "a.jsonl", kind: str = "samples", **fields: Any) -> Any:
    content = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    file = SimpleUploadedFile(name, content.encode())
    return client_of(world.alice).post(f"{API}imports/", {"file": file, "kind": kind, **fields}, format="multipart")


def sent(world: World, *rows: Any, **more: Any) -> dict[str, Any]:
    reply = send(world, list(rows), **more)
    assert (reply.status_code, reply.json()["errors"]) == (201, [])
    result: dict[str, Any] = reply.json()["result"]
    return result


def batch(world: World, *criteria: str, people: tuple[str, ...] = ("ann", "ben"), **more: Any) -> Any:
    given = {"name": "B", "criteria": criteria, "annotators": people, "overlap": len(people), "seed": 1, **more}
    made = client_of(world.alice).post(f"{API}batches/", given, format="json")
    assert made.status_code == 201, made.content
    return made.json()["number"]


def opened(world: World, number: int) -> Any:
    return client_of(world.alice).post(f"{API}batches/{number}/open/", {}, format="json")


def work(world: World, user: Any) -> dict[str, dict[str, Any]]:
    """What each open task of the user asks, by its sample's question."""
    client, found = client_of(user), {}
    for task in Task.objects.filter(annotator=user, status="pending"):
        payload = client.get(f"/api/tasks/{task.pk}/").json()["task"]
        found[payload["sample"]["question"]] = payload
    return found


def say(user: Any, task: int, unit: str, criterion: str, value: Any) -> Any:
    return client_of(user).put(
        f"/api/tasks/{task}/labels/", {"unit": unit, "criterion": criterion, "value": value}, format="json",
        HTTP_IF_MATCH="0", HTTP_IDEMPOTENCY_KEY=str(uuid.uuid4()),
    )  # fmt: skip


# How they come in


def test_golden_sets_come_in_as_they_are(world: World) -> None:
    result = sent(world, TREC, GOLDEN, SOURCED, ANSWERED)
    assert result["created"] == 4
    assert result["without_answer"] == 3
    found = {sample.external_id: sample for sample in Sample.objects.all()}
    assert [found[name].answer for name in ("t1", "g1", "g2", "a1")] == [None, None, None, "At nine. Daily."]
    assert found["t1"].contexts == [
        {"id": "d1", "text": "A fox.", "score": None}, {"id": "d2", "text": "Snow.", "score": None},
    ]  # fmt: skip
    assert (found["g1"].relevant_doc_ids, found["g1"].reference, found["g1"].key_facts) == (
        ["kb/ports"],
        "8000.",
        ["8000"],
    )
    assert found["g1"].metadata == {"level": "easy"}
    assert (found["g2"].relevant_doc_ids, found["g2"].reference) == (["kb/tls"], "No.")
    assert found["g2"].metadata == {"source_content": "None."}
    assert all(not found[name].claims for name in ("t1", "g1", "g2"))


@pytest.mark.parametrize(
    "row",
    [
        "id,question,answer,ground_truth\r\ng,Q?,,R\r\n",
        "id,question,ground_truth\r\ng,Q?,R\r\n",
        '{"id": "g", "question": "Q?", "answer": null, "ground_truth": "R"}',
        '{"id": ["g"], "question": ["Q?"], "ground_truth": ["R"]}',
    ],
)
def test_no_answer_is_the_same_in_every_format(world: World, row: str) -> None:
    assert send(world, '{"id": "g", "question": "Q?", "ground_truth": "R"}', "a.jsonl").status_code == 201
    again = send(world, row, "a.csv" if row.startswith("id,") else "a.json")
    assert again.json()["result"]["unchanged"] == 1
    assert client_of(world.alice).get(f"{API}samples/").json()["results"][0]["answer"] is None


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"answer": ""}, "answer", "missing"),
        ({"answer": " \n"}, "answer", "missing"),
        ({"answer_b": "Another."}, "answer_b", "no_answer"),
        ({"claims": ["A claim."]}, "claims", "no_answer"),
    ],
)
def test_what_belongs_to_an_answer_needs_one(world: World, changes: Any, field: str, code: str) -> None:
    refused = send(world, [{**GOLDEN, **changes}])
    assert [(error["field"], error["code"]) for error in refused.json()["errors"]] == [(field, code)]
    assert not Sample.objects.exists()


def test_a_pipeline_pushes_questions_without_answers(world: World) -> None:
    given = {"version": "v7", "samples": [TREC, ANSWERED]}
    pushed = client_of(world.alice).post(f"{API}samples/", given, format="json")
    assert (pushed.status_code, pushed.json()["without_answer"]) == (201, 1)
    assert client_of(world.alice).post(f"{API}samples/", given, format="json").json()["unchanged"] == 2


def test_what_was_imported_before_answers_were_optional_is_unchanged(world: World) -> None:
    """A column source_doc_id became metadata then."""
    row = {"id": "old", "question": "q", "answer": "x", "source_doc_id": "kb/1"}
    sent(world, row, mapping=json.dumps({"source_doc_id": "metadata"}))
    assert Sample.objects.get().metadata == {"source_doc_id": "kb/1"}
    assert sent(world, row)["unchanged"] == 1
    nameless = {"question": "q2", "answer": "x", "source_doc_id": "kb/1"}
    sent(world, nameless, mapping=json.dumps({"source_doc_id": "metadata"}))
    assert sent(world, nameless)["unchanged"] == 1
    assert Sample.objects.count() == 2
    conflict = send(world, [{**row, "answer": "y"}])
    assert [error["code"] for error in conflict.json()["errors"]] == ["conflict"]


# What they are asked


def test_criteria_about_the_answer_do_not_ask_them(world: World) -> None:
    sent(world, TREC, GOLDEN, ANSWERED)
    number = batch(world, "support", "grade", "relevance", "fact_in_answer")
    assert opened(world, number).status_code == 200
    asked = {question: [one["key"] for one in task["criteria"]] for question, task in work(world, world.ann).items()}
    assert asked == {"What runs?": ["relevance"], "When?": ["support", "grade", "relevance", "fact_in_answer"]}
    assert Task.objects.count() == 4  # nothing is asked about the golden question, which has no context

    progress = client_of(world.alice).get(f"{API}batches/{number}/").json()["progress"]
    expected = {one["key"]: (one["expected"], one["not_asked"]) for one in progress["criteria"]}
    assert expected == {"support": (4, 2), "grade": (2, 2), "relevance": (6, 0), "fact_in_answer": (2, 2)}
    assert progress["left_out"] == 1
    page = as_user(world.alice).get(f"/p/desk/batches/{number}/").content.decode()
    assert "Skipped for samples that lack an answer: Support (2), Grade (2), Fact in answer (2)." in page
    assert "1 sample has no units for these criteria and gets no task." in page


def test_a_task_without_an_answer_is_labelled_to_its_verdict(world: World) -> None:
    sent(world, TREC)
    world.project.criteria.filter(key="relevance").update(required=True)
    assert opened(world, batch(world, "relevance", people=("ann",))).status_code == 200
    task = work(world, world.ann)["What runs?"]
    assert task["sample"]["answer"] is None
    for unit, criterion in (("answer", "grade"), ("claim:0", "support"), ("fact:0", "fact_in_answer")):
        assert say(world.ann, task["id"], unit, criterion, 4).json()["error"]["code"] == "criterion_not_asked"
    client = client_of(world.ann)
    half = client.post(f"/api/tasks/{task['id']}/submit/", {}, format="json")
    assert half.json()["missing"] == [{"unit": f"context:{n}", "criterion": "relevance"} for n in (0, 1)]
    for n in (0, 1):
        assert say(world.ann, task["id"], f"context:{n}", "relevance", n).status_code == 200
    assert client.post(f"/api/tasks/{task['id']}/submit/", {}, format="json").status_code == 200
    assert set(Verdict.objects.values_list("unit", "state")) == {("context:0", "settled"), ("context:1", "settled")}


@pytest.mark.parametrize("key", ["support", "grade", "fact_in_answer"])
def test_a_batch_that_asks_nothing_says_so(world: World, key: str) -> None:
    sent(world, TREC, GOLDEN)
    refused = opened(world, batch(world, key))
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "nothing_to_ask"
    assert refused.json()["error"]["message"] == f"“{key}” applies to the answer, but no sample in this batch has one."
    assert not Task.objects.exists()


def test_the_plan_of_a_batch_counts_what_is_asked(world: World) -> None:
    sent(world, TREC, GOLDEN, ANSWERED)
    form = {
        "name": "B", "criteria": [world.criteria("grade")[0].pk], "annotators": [world.ann.pk, world.ben.pk],
        "overlap": 2, "overlap_percent": 100, "method": "all", "strategy": "balanced", "consensus": "majority",
        "settle_percent": 60, "settle_votes": 2, "lease_minutes": 30, "gold_percent": 0, "repeat_percent": 0,
    }  # fmt: skip
    page = as_user(world.alice).post("/p/desk/batches/new/preview/", form).content.decode()
    assert "2 tasks for 2 annotators" in page
    assert "2 samples are excluded: they have no units for these criteria. 2 of them have no answer." in page


def test_extending_a_batch_makes_no_empty_tasks(world: World) -> None:
    sent(world, ANSWERED)
    number = batch(world, "grade")
    opened(world, number)
    sent(world, TREC, {**ANSWERED, "id": "a2"})
    extended = client_of(world.alice).post(
        f"{API}batches/{number}/extend/", {"selection": {"method": "all"}}, format="json"
    )
    assert extended.status_code == 200
    assert set(Task.objects.values_list("sample__external_id", flat=True)) == {"a1", "a2"}


def test_a_criterion_on_two_answers_is_not_asked_of_one(world: World) -> None:
    add_criteria(project=world.project, specs=["preference"])
    sent(world, ANSWERED)
    refused = opened(world, batch(world, "preference"))
    assert refused.status_code == 409
    said = "“preference” compares two answers, but no sample in this batch has two."
    assert refused.json()["error"]["message"] == said
    sent(world, {**ANSWERED, "id": "p1", "question": "Or else?", "answer_b": "At ten."})
    number = batch(world, "preference", "grade")
    assert opened(world, number).status_code == 200
    tasks = work(world, world.ann)
    asked = {question: [one["key"] for one in task["criteria"]] for question, task in tasks.items()}
    assert asked == {"When?": ["grade"], "Or else?": ["preference", "grade"]}
    refused = say(world.ann, tasks["When?"]["id"], "sample", "preference", "A")
    assert refused.json()["error"]["message"] == "This task doesn’t ask for “preference”."
    units = client_of(world.alice).get(f"{API}units/?criterion=preference").json()["results"]
    assert [one["sample_id"] for one in units] == ["p1"]
    page = as_user(world.alice).get(f"/p/desk/batches/{number}/").content.decode()
    assert "Skipped for samples that lack an answer: Preference (1)." in page

    known = [{"sample_id": "a1", "unit": "sample", "criterion": "preference", "value": "A"}]
    (problem,) = client_of(world.alice).post(f"{API}gold/", known, format="json").json()["problems"]
    assert problem["message"] == "“preference” compares two answers, but this sample doesn’t have two."
    (error,) = send(world, [{**known[0], "rater": "r"}], kind="labels").json()["errors"]
    assert error["message"] == "“preference” compares two answers; the sample has not."


# What is said about them


def test_labels_from_elsewhere_say_nothing_about_an_answer_that_is_not_there(world: World) -> None:
    sent(world, TREC, GOLDEN)
    rows = [
        {"sample_id": "t1", "unit": "answer", "criterion": "grade", "rater": "r", "value": 4},
        {"sample_id": "t1", "unit": "claim:0", "criterion": "support", "rater": "r", "value": "yes", "unit_text": "A."},
        {"sample_id": "g1", "unit": "fact:0", "criterion": "fact_in_answer", "rater": "r", "value": "yes"},
    ]
    refused = send(world, rows, kind="labels").json()
    assert [(error["row"], error["code"]) for error in refused["errors"]] == [(n, "no_answer") for n in (1, 2, 3)]
    good = {"sample_id": "t1", "unit": "context:0", "criterion": "relevance", "rater": "r", "value": 1}
    assert sent(world, good, kind="labels")["created"] == 1
    assert (
        settle_imported(project=world.project, actor=world.alice, criterion=world.criteria("relevance")[0], needed=1)
        == 1
    )
    assert Label.objects.count() == Verdict.objects.count() == 1


def test_known_answers_are_not_set_for_an_answer_that_is_not_there(world: World) -> None:
    sent(world, GOLDEN)
    rows = [
        {"sample_id": "g1", "unit": "answer", "criterion": "grade", "value": 4},
        {"sample_id": "g1", "unit": "fact:0", "criterion": "fact_in_answer", "value": "yes"},
    ]
    refused = client_of(world.alice).post(f"{API}gold/", rows, format="json").json()
    assert [problem["code"] for problem in refused["problems"]] == ["no_answer", "no_answer"]


def test_there_are_no_claims_to_edit(world: World) -> None:
    sent(world, TREC)
    sample = Sample.objects.get()
    at = f"{API}samples/{sample.pk}/claims/"
    client = client_of(world.alice)
    assert client.get(at).json()["claims"] == []
    refused = client.patch(at, {"op": "add", "text": "A claim."}, format="json", HTTP_IF_MATCH="1")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_answer")
    page = as_user(world.alice).get(f"/p/desk/samples/{sample.pk}/").content.decode()
    assert "This sample has no answer." in page
    assert "Edit the claims" not in page
    assert as_user(world.alice).get(f"/p/desk/samples/{sample.pk}/claims/").status_code == 404


def test_a_misspelled_answer_is_seen_before_the_import(world: World) -> None:
    """Every column that is no field becomes metadata: the answer, too, under a name that we don't know."""
    kept = send(world, [{"question": "q", "final_text": "x"}], preview="1").json()
    page = as_user(world.alice).get(f"/p/desk/import/{kept['id']}/").content.decode()
    assert "No column is mapped to the answer" in page
    good = send(world, [ANSWERED], preview="1").json()
    assert (
        "No column is mapped to the answer"
        not in as_user(world.alice).get(f"/p/desk/import/{good['id']}/").content.decode()
    )
