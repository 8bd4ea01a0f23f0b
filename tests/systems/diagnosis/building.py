"""A project whose responses people labelled: brought in by the commands that an engineer uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from annotate.models import Project
from annotate.projects.write import create_project, set_member
from systems.models import Response
from tests.annotate.factories import World
from tests.systems.building import command

Write = Callable[..., Path]
Labels = Mapping[str, Any]

CONTRADICTION = {
    "key": "contradiction",
    "unit": "sample",
    "scale": "binary",
    "prompt": "Do the contexts contradict each other?",
    "options": [{"value": "no", "label": "No"}, {"value": "yes", "label": "Yes"}],
    "pass": ["no"],
}
CRITERIA = [
    "support", "relevance", "fact_in_context", "fact_in_answer", "correctness", "relevancy", "failure", "correct",
    "evidence", CONTRADICTION,
]  # fmt: skip
# What people say of a response with nothing wrong: by unit and criterion.
GOOD: Labels = {
    "context:0 relevance": 0,
    "context:1 relevance": 3,
    "sample contradiction": "no",
    "fact:0 fact_in_context": "yes",
    "fact:0 fact_in_answer": "yes",
    "claim:0 support": "supported",
    "claim:1 support": "supported",
    "answer correctness": 9,
    "answer relevancy": 5,
}


def make_project(world: World, slug: str = "rag") -> Project:
    """Alice is its admin, Rita a reviewer, Ann an annotator."""
    project = create_project(slug=slug, spec={"name": "RAG", "criteria": CRITERIA}, created_by=world.alice)
    set_member(project=project, user=world.rita, role="reviewer")
    set_member(project=project, user=world.ann, role="annotator")
    return project


def question(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "question": f"What of {name}?", "key_facts": ["On 8000."], "type": "simple", **more}


def response(name: str, version: str = "v7", **more: Any) -> dict[str, Any]:
    return {
        "question_id": name,
        "pipeline_version": version,
        "answer": "It is on 8000. TLS is on 8443.",
        "claims": ["It is on 8000.", "TLS is on 8443."],
        "contexts": [{"id": "a", "text": "Something else."}, {"id": "b", "text": "The port is 8000."}],
        **more,
    }


class Desk:
    """Files of questions, responses and labels into the project."""

    def __init__(self, project: Project, write: Write) -> None:
        self.project = project
        self._write, self._files = write, 0

    def ask(self, *questions: dict[str, Any]) -> None:
        command("import_questions", self.project.slug, "support", self._file(list(questions)))

    def answer(self, *responses: dict[str, Any]) -> None:
        command("import_samples", self.project.slug, self._file(list(responses)))

    def label(self, sample: str, labels: Labels, *, people: int = 2) -> None:
        """By so many people, who agree; two of them settle a unit."""
        rows = [
            {"sample_id": sample, "unit": unit, "criterion": criterion, "rater": f"p{number}", "value": value}
            for address, value in labels.items()
            for unit, criterion in [address.split(" ")]
            for number in range(people)
        ]
        command("import_labels", self.project.slug, self._file(rows))
        for key in {row["criterion"] for row in rows}:
            command("settle", self.project.slug, "--criterion", key, "--needed", "2")

    def _file(self, rows: list[dict[str, Any]]) -> Path:
        self._files += 1
        return self._write(f"{self._files}.jsonl", rows)


def response_to(name: str, version: str = "v7") -> Response:
    return Response.objects.get(question__external_id=name, version__name=version)


def diagnose_json(project: Project, version: str = "v7", *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        command("diagnose", project.slug, "--version", version, "--format", "json", *options)
    )
    return found
