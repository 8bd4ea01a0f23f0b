"""Retrieval figures by command and API: known answers, what counts as relevant, what scores 0, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.annotate.factories import World
from tests.clients import client_of
from tests.systems.building import command, import_questions, refused
from tests.systems.retrieval.building import MEANS, PER_QUESTION, RETRIEVED, Write, import_run, import_truth

API = "/api/projects/desk/retrieval/"


@pytest.fixture
def judged(world: World, write: Write) -> World:
    import_truth(write)
    return world


def figures(*options: str, version: str = "v7", set_name: str = "support@1") -> dict[str, Any]:
    printed = command("retrieval", "desk", "--set", set_name, "--version", version, "--format", "json", *options)
    return json.loads(printed)


def values(found: dict[str, Any]) -> dict[str, float]:
    return {name: estimate["value"] for name, estimate in found["metrics"].items()}


def test_known_answers(judged: World, write: Write) -> None:
    import_run(write)
    found = figures("--k", "5", "--rel", "1")
    assert {name: found[name] for name in found if name not in ("metrics", "per_question")} == {
        "schema": 1, "version": "v7", "set": "support@1", "k": 5, "rel": 1, "questions": 3, "undefined": 0, "failed": 0,
        "not_asked": 0, "without_ids": 0, "contradicted": 0,
    }  # fmt: skip
    assert values(found) == pytest.approx(MEANS, abs=1e-6)
    assert list(found["per_question"]) == ["q1", "q2", "q3"]
    for question, known in PER_QUESTION.items():
        assert found["per_question"][question] == pytest.approx(known, abs=1e-6), question
    assert {(one["n"], one["clusters"]) for one in found["metrics"].values()} == {(3, 3)}
    assert figures(set_name="support") == {**found, "rel": None}


def test_the_api_says_the_same(judged: World, write: Write) -> None:
    import_run(write)
    client = client_of(judged.rita)
    asked = {"set": "support@1", "version": "v7", "k": "5", "rel": "1"}
    reply = client.get(API, asked)
    assert (reply.status_code, reply.json()) == (200, figures("--rel", "1"))
    assert client.get(API, {**asked, "k": "1"}).json()["metrics"]["P"]["value"] == pytest.approx(2 / 3)
    for wrong, code in (({"k": "0"}, "bad_number"), ({"k": "x"}, "bad_number"), ({"rel": "0"}, "bad_number")):
        refusal = client.get(API, {**asked, **wrong})
        assert (refusal.status_code, refusal.json()["error"]["code"]) == (422, code)
    assert client.get(API, {**asked, "set": "none"}).status_code == 404
    assert client.get(API, {**asked, "version": "v8"}).status_code == 404
    assert client_of(judged.ann).get(API, asked).status_code == 403
    assert client_of(judged.charlie).get(API, asked).status_code == 404


def test_the_table_says_what_the_means_are_of(judged: World, write: Write) -> None:
    import_run(write, retrieved={"q1": RETRIEVED["q1"]})
    printed = command("retrieval", "desk", "--set", "support", "--version", "v7", "--k", "3")
    assert printed.startswith("v7 on support@1: 3 questions, 2 not asked\n")
    (row,) = [line for line in printed.splitlines() if line.startswith("P@3 ")]
    assert row.split()[1] == "0.222"


def test_a_higher_grade_may_be_asked_for(judged: World, write: Write) -> None:
    """From 3 on only q2 has relevant documents: a, at rank 4, and e, which was not found."""
    import_run(write)
    found = figures("--rel", "3")
    assert (found["rel"], found["undefined"]) == (3, 2)
    assert (values(found)["RR"], values(found)["R"], found["metrics"]["R"]["n"]) == (0.25, 0.5, 1)
    assert set(found["per_question"]["q1"].values()) == {None}
    # The gain is the grade whatever counts as relevant.
    assert values(found)["nDCG"] == pytest.approx(0.520605, abs=1e-6)


def test_a_number_keeps_what_its_questions_said(judged: World, write: Write) -> None:
    """A judgement that came with a later revision is not of the earlier number."""
    import_run(write)
    before = figures()
    changed = [{"id": "q1", "question": "Which port does the service listen on?", "relevant": {"88": 1}}]
    import_questions(write("later.jsonl", changed))
    command("freeze_set", "desk", "support")
    assert figures() == before
    # 15 and 42 came with the first revision only; 103 as a file.
    assert figures(set_name="support@2")["per_question"]["q1"]["P"] == pytest.approx(2 / 5)


def test_contexts_are_the_ranking_where_there_is_no_other(judged: World, write: Write) -> None:
    """In their order, a document that comes twice where it comes first."""
    context = [{"id": name, "text": f"Passage {name}"} for name in ("42", "15", "42", "88", "103", "12")]
    rows = [
        {"question_id": "q1", "pipeline_version": "v7", "answer": "8000.", "contexts": context},
        {"question_id": "q2", "pipeline_version": "v7", "answer": "Daily.", "retrieved_doc_ids": RETRIEVED["q2"]},
        {
            "question_id": "q3",
            "pipeline_version": "v7",
            "contexts": [{"id": "y", "text": "Y"}, {"id": "z", "text": "Z"}],
        },
    ]
    command("import_samples", "desk", write("a.jsonl", rows))
    found = figures()
    for question, known in PER_QUESTION.items():
        assert found["per_question"][question] == pytest.approx(known, abs=1e-6), question


def test_what_failed_and_what_was_not_asked_scores_0_and_is_counted(judged: World, write: Write) -> None:
    import_run(write, retrieved={"q1": RETRIEVED["q1"]})
    failed = {"question_id": "q2", "pipeline_version": "v7", "status": "failed", "error": "timeout"}
    command("import_samples", "desk", write("a.jsonl", [failed]))
    found = figures()
    assert (found["failed"], found["not_asked"], found["questions"]) == (1, 1, 3)
    assert values(found)["P"] == pytest.approx(0.6 / 3)
    assert found["per_question"]["q2"] == {**dict.fromkeys(PER_QUESTION["q2"], 0), "Judged": None}
    assert (values(found)["Judged"], found["metrics"]["Judged"]["n"]) == (0.6, 1)


def test_contexts_without_ids_are_no_ranking_and_are_counted(judged: World, write: Write) -> None:
    import_run(write, retrieved={"q1": RETRIEVED["q1"], "q3": RETRIEVED["q3"]})
    unnamed = {"question_id": "q2", "pipeline_version": "v7", "answer": "Daily.", "contexts": ["Some passage"]}
    command("import_samples", "desk", write("a.jsonl", [unnamed, {**unnamed, "pipeline_version": "v8"}]))
    found = figures()
    assert (found["without_ids"], found["undefined"], found["metrics"]["P"]["n"]) == (1, 0, 2)
    assert values(found)["P"] == pytest.approx(0.3)
    assert set(found["per_question"]["q2"].values()) == {None}
    told = refused("retrieval", "desk", "--set", "support", "--version", "v8")
    assert told == "The contexts of “v8” have no document IDs. Import its rankings, or give the contexts IDs."


def test_repeats_count_once(judged: World, write: Write) -> None:
    import_run(write)
    rows = [
        {"repeat": 1, "answer": "80.", "contexts": [{"id": "12", "text": "Passage 12"}]},
        {"repeat": 2, "status": "failed"},
    ]
    rows = [{"question_id": "q1", "pipeline_version": "v7", **row} for row in rows]
    command("import_samples", "desk", write("a.jsonl", rows))
    found = figures()
    assert found["per_question"]["q1"]["P"] == pytest.approx(0.2)
    assert (found["metrics"]["P"]["n"], found["failed"]) == (3, 1)
    assert values(found)["P"] == pytest.approx((0.2 + 0.4 + 0) / 3)


def test_intervals_go_by_group(world: World, write: Write) -> None:
    """Questions that belong together are one piece of evidence."""
    rows = [
        {"id": f"q{n}-{copy}", "question": f"Question {n}, {copy}?", "relevant": ["d"], "group_key": f"g{n}"}
        for n in range(20)
        for copy in range(3)
    ]
    import_questions(write("q.jsonl", rows))
    command("freeze_set", "desk", "support")
    import_run(write, retrieved={row["id"]: ["d" if int(row["group_key"][1:]) % 3 else "e"] for row in rows})
    grouped = figures()["metrics"]["R"]
    assert (grouped["n"], grouped["clusters"]) == (60, 20)
    alone = [{**row, "id": f"alone-{row['id']}", "group_key": row["id"]} for row in rows]
    import_questions(write("r.jsonl", alone), "alone")
    command("freeze_set", "desk", "alone")
    run = "".join(
        f"{row['id']} Q0 {'d' if int(row['group_key'][1:].split('-')[0]) % 3 else 'e'} 1 1 t\n" for row in alone
    )
    command("import_run", "desk", "v7", write("alone.run", run), "--set", "alone@1")
    single = figures(set_name="alone")["metrics"]["R"]
    assert single["value"] == grouped["value"]
    assert single["high"] - single["low"] < grouped["high"] - grouped["low"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--set", "none", "--version", "v7"), "Test set “none” not found in this project."),
        (("--set", "support@9", "--version", "v7"), "Test set “support@9” not found."),
        (("--set", "support", "--version", "v9"), "Version “v9” not found in this project."),
        (("--set", "support", "--version", "v7", "--k", "0"), "k: must be a whole number from 1 to 1,000."),
        (("--set", "support", "--version", "v7", "--rel", "0"), "rel: must be a whole number from 1 to 1,000."),
        (("--set", "draft", "--version", "v7"), "“draft” isn’t frozen yet. Freeze the test set first."),
        (
            ("--set", "support", "--version", "bare"),
            "“bare” has no rankings on support@1. Import them, or responses whose contexts have IDs.",
        ),
    ],
)
def test_what_is_refused(judged: World, write: Write, options: tuple[str, ...], told: str) -> None:
    import_run(write)
    import_questions(write("d.jsonl", [{"id": "q9", "question": "Anything else?"}]), "draft")
    bare = {"question_id": "q9", "pipeline_version": "bare", "answer": "No."}
    command("import_samples", "desk", write("a.jsonl", [bare]))
    assert refused("retrieval", "desk", *options) == told
