"""Experiments, made and read by the commands that an engineer uses; and people who label what was drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotate.models import Batch, Task
from tests.annotate.factories import World, finish
from tests.systems.building import command, refused


def create(write: Callable[..., Path], spec: dict[str, Any], name: str = "v2-or-v1") -> str:
    return command("create_experiment", "desk", name, "--file", write("e.json", json.dumps(spec)))


def create_refused(write: Callable[..., Path], spec: Any, name: str = "v2-or-v1") -> str:
    return refused("create_experiment", "desk", name, "--file", write("e.json", json.dumps(spec)))


def draw(questions: int, *more: Any, seed: int = 7) -> Batch:
    command("draw_labels", "desk", "v2-or-v1", "--questions", questions, "--seed", seed, *more)
    batch = Batch.objects.order_by("-number").first()
    assert batch is not None
    return batch


def figures(name: str = "v2-or-v1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command("experiment", "desk", name, "--format", "json"))
    return found


def metric(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in found["metrics"] if one["metric"] == name)


def label(world: World, batch: Batch, supports: Callable[[Task, str], str], grade: int = 4) -> None:
    """Everyone finishes what is still open of the batch. supports: the value of a claim of a task's sample."""
    for task in Task.objects.filter(batch=batch, status="pending").select_related("sample", "annotator", "batch"):
        finish(task, support=lambda unit, task=task: supports(task, unit), grade=grade)
