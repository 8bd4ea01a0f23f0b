"""Three models that answered the same questions, with everybody's grades of all answers: mtrag_human as an experiment.

Half of the questions are drawn and have labels; the labels of all say what is true.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from annotate.models import User
from annotate.projects.write import create_project, set_member
from systems.models import Experiment
from tests.shared_data import shared_data
from tests.systems.building import command

Write = Callable[..., Path]
LLAMA, GPT, REFERENCE = "llama-3.1-405b-instruct", "gpt-4o", "reference"
SPEC: dict[str, Any] = {
    "set": "mtrag@1",
    "versions": [LLAMA, GPT, REFERENCE],
    "metrics": [{"criterion": "faithfulness", "judge": "RB_llm"}],
    "rule": {"primary": "faithfulness", "margin": 0.05},
}


def rows(name: str) -> list[dict[str, Any]]:
    text = (shared_data("mtrag_human") / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def figures(name: str) -> dict[str, Any]:
    (found,) = json.loads(command("experiment", "mtrag", name, "--format", "json"))["metrics"]
    return found  # type: ignore[no-any-return]


def test_a_drawn_half_of_the_labels_finds_what_all_of_them_say(db: None, write: Write) -> None:
    alma, ana = (User.objects.create_user(name) for name in ("alma", "ana"))
    options = [{"value": level} for level in range(1, 5)]
    grade = {"key": "faithfulness", "unit": "answer", "scale": "ordinal", "prompt": "Faithful?", "options": options}
    project = create_project(
        slug="mtrag", spec={"name": "MTRAG", "criteria": [{**grade, "pass": [4]}]}, created_by=alma
    )
    set_member(project=project, user=ana, role="annotator")
    samples = rows("samples.jsonl")
    model_of = {row["id"]: row["metadata"]["model"] for row in samples}
    questions = {row["metadata"]["task_id"]: row["question"] for row in samples}
    asked = [
        # Turns of a conversation are one group.
        {"id": task, "question": question, "group_key": task.partition("<::>")[0]}
        for task, question in questions.items()
    ]
    command("import_questions", "mtrag", "mtrag", write("q.jsonl", asked))
    command("freeze_set", "mtrag", "mtrag")
    for row in samples:
        row |= {"question_id": row["metadata"]["task_id"], "pipeline_version": row["metadata"].pop("model")}
    command("import_samples", "mtrag", write("s.jsonl", samples))
    command(
        "import_scores", "mtrag", write("j.jsonl", [one for one in rows("judge.jsonl") if one["judge"] == "RB_llm"])
    )

    command("create_experiment", "mtrag", "half", "--file", write("e.json", json.dumps(SPEC)))
    command("draw_labels", "mtrag", "half", "--questions", 80, "--seed", 1)
    drawn = set(Experiment.objects.get().draws.get().batch.samples.values_list("external_id", flat=True))
    said = [one for one in rows("human.jsonl") if one["dimension"] == "faithfulness"]
    command("import_labels", "mtrag", write("h.jsonl", [one for one in said if one["sample_id"] in drawn]))
    half = figures("half")

    of_answer = defaultdict(list)
    for one in said:
        of_answer[one["sample_id"]].append((one["value"] - 1) / 3)
    of_model = defaultdict(list)
    for sample, values in of_answer.items():
        of_model[model_of[sample]].append(mean(values))
    truth = {model: mean(values) for model, values in of_model.items()}
    for level in half["levels"]:
        assert level["labelled"] == level["drawn"] < len(questions)
        assert level["corrected"]["low"] <= truth[level["version"]] <= level["corrected"]["high"]
    by_model = {one["b"]: one for one in half["differences"]}
    for model, one in by_model.items():
        assert one["corrected"]["low"] <= truth[model] - truth[LLAMA] <= one["corrected"]["high"]
    assert (by_model[GPT]["verdict"], by_model[REFERENCE]["verdict"]) == ("cannot_tell", "better")
    # The judge alone is surer than the labels allow, and says too much of the people's own answers.
    assert by_model[REFERENCE]["raw"]["low"] > truth[REFERENCE] - truth[LLAMA]

    command("draw_labels", "mtrag", "half", "--questions", len(questions) - half["levels"][0]["drawn"], "--seed", 1)
    command("import_labels", "mtrag", write("all.jsonl", said))
    for level in figures("half")["levels"]:
        assert level["labelled"] == len(questions)
        assert level["people"]["value"] == pytest.approx(truth[level["version"]], abs=1e-9)
        assert level["people"]["low"] < truth[level["version"]] < level["people"]["high"]
