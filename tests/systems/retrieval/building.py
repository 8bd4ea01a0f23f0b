"""A test set with known answers: questions, judgements and a run of which trec_eval's figures are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.systems.building import command, freeze, import_questions

Write = Callable[..., Path]

QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Which port does the service listen on?", "relevant": {"15": 1, "42": 1}},
    {"id": "q2", "question": "How are certificates renewed?", "relevant": {"a": 1, "c": 1}},
    {"id": "q3", "question": "Who may restart the queue?"},
]
QRELS = "q1 0 103 1\nq2 0 a 3\nq2 0 b 2\nq2 0 d 0\nq2 0 e 3\nq3 0 x 1\n"
RETRIEVED = {"q1": ["42", "15", "88", "103", "12"], "q2": ["b", "d", "zz", "a"], "q3": ["y", "z"]}

PER_QUESTION = {
    "q1": {"AP": 0.916667, "P": 0.6, "R": 1, "nDCG": 0.967468, "RR": 1, "Rprec": 0.666667, "Judged": 0.6, "Success": 1},
    "q2": {"AP": 0.375, "P": 0.4, "R": 0.5, "nDCG": 0.520605, "RR": 1, "Rprec": 0.5, "Judged": 0.75, "Success": 1},
    "q3": dict.fromkeys(("AP", "P", "R", "nDCG", "RR", "Rprec", "Judged", "Success"), 0),
}
MEANS = {
    "AP": 0.430556, "nDCG": 0.496024, "RR": 0.666667, "R": 0.5, "P": 0.333333, "Success": 0.666667, "Judged": 0.45,
    "Rprec": 0.388889,
}  # fmt: skip


def run_of(retrieved: dict[str, list[str]], tag: str = "t") -> str:
    return "".join(
        f"{question} Q0 {document} {rank} {100 - rank} {tag}\n"
        for question, documents in retrieved.items()
        for rank, document in enumerate(documents, 1)
    )


def import_truth(write: Write) -> None:
    """Some relevant documents come with the questions, others as qrels, which count where the two differ."""
    import_questions(write("questions.jsonl", QUESTIONS))
    freeze()
    command("import_qrels", "desk", write("truth.qrels", QRELS), "--set", "support@1")


def import_run(write: Write, version: str = "v7", retrieved: dict[str, list[str]] = RETRIEVED) -> None:
    command("import_run", "desk", version, write("v.run", run_of(retrieved)), "--set", "support@1")
