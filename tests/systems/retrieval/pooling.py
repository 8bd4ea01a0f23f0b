"""Pools: the passages of two versions, and people who label them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from annotate.batches.criterion_change_read import Choices
from annotate.batches.relabelling import change_criterion
from annotate.batches.steps import open_batch
from annotate.models import Batch, Task
from annotate.projects.criteria import check_spec
from annotate.projects.read import one_criterion
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import World, say
from tests.systems.building import command, freeze, import_questions
from tests.systems.retrieval.building import QUESTIONS, RETRIEVED

Write = Callable[..., Path]

# What people say of each document; nothing of what they can't judge.
GRADES = {
    "15": 1, "42": 1, "103": 1,
    "a": 3, "b": 2, "c": 1, "d": 0, "e": 3,
    "x": 1,
}  # fmt: skip
# What v7 doesn't find.
REST = {"q1": ["103", "42"], "q2": ["c", "e", "b"], "q3": ["x"]}


def passage(document: str) -> str:
    return f"What document {document} says."


def retrieved(version: str, question: str, documents: Collection[str], **more: Any) -> dict[str, Any]:
    """A response that has contexts and no answer."""
    contexts = [{"id": document, "text": passage(document)} for document in documents]
    return {"question_id": question, "pipeline_version": version, "contexts": contexts, **more}


def ask_relevance(world: World, passes: Collection[int] = (1, 2, 3)) -> None:
    """People are asked for grades from 0 to 3."""
    spec = {
        "key": "relevance",
        "unit": "context",
        "scale": "ordinal",
        "prompt": "How relevant?",
        "options": [{"value": value} for value in range(4)],
        "pass": list(passes),
    }
    seen = one_criterion(world.project, "relevance")
    change_criterion(actor=world.alice, project=world.project, seen=seen, spec=check_spec(spec), choices=Choices())


def two_versions(world: World, write: Write) -> World:
    """v7 retrieves as the known answers say, v8 what it misses; of nothing is known whether it is relevant."""
    ask_relevance(world)
    import_questions(
        write("q.jsonl", [{name: row[name] for name in ("id", "question")} for row in QUESTIONS]),
    )
    freeze()
    rows = [retrieved("v7", question, documents) for question, documents in RETRIEVED.items()]
    rows += [retrieved("v8", question, documents) for question, documents in REST.items()]
    command("import_samples", "desk", write("r.jsonl", rows))
    return world


def pool(*more: Any, versions: Collection[str] = ("v7", "v8"), k: int = 5) -> Batch:
    command("pool", "desk", "support@1", "--versions", *versions, "--k", k, "--seed", 5, *more)
    return latest()


def latest() -> Batch:
    batch = Batch.objects.order_by("-number").first()
    assert batch is not None
    return batch


def label(batch: Batch, grades: dict[str, int] | None = None) -> None:
    """Everyone labels all passages of the batch alike, and says that they can't tell of the others."""
    of = {passage(document): grade for document, grade in (GRADES if grades is None else grades).items()}
    if batch.status == "draft":
        batch = open_batch(batch=batch)
    for task in Task.objects.filter(batch=batch, status="pending").select_related("sample", "annotator", "batch"):
        for place, context in enumerate(task.sample.contexts):
            grade = of.get(context["text"])
            said = {"value": grade} if grade is not None else {"value": None, "cant_tell": "No idea."}
            say(task.annotator, task, f"context:{place}", "relevance", **said)
        submit_task(actor=task.annotator, task_id=task.pk)


def figures(version: str = "v7", *options: str) -> dict[str, Any]:
    printed = command(
        "retrieval", "desk", "--set", "support@1", "--version", version, "--format", "json", "--k", "5", *options
    )
    found: dict[str, Any] = json.loads(printed)
    return found
