from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.annotate.factories import World, make_world
from tests.systems.building import command, freeze, import_questions
from tests.systems.conftest import writer

Write = Callable[..., Path]
QUESTIONS = 12


def answer(number: int, version: str, **more: Any) -> dict[str, Any]:
    claims = ["It opens at nine.", "It closes at five."]
    return {
        "question_id": f"q{number}",
        "pipeline_version": version,
        "answer": " ".join(claims),
        "claims": claims,
        "contexts": [{"id": "a", "text": "Open from nine to five."}, {"id": "b", "text": "Closed on Sundays."}],
        "latency_ms": 100 + number + (49 + number % 3 if version == "v2" else 0),
        **more,
    }


SPEC: dict[str, Any] = {
    "set": "support@1",
    "versions": ["v1", "v2"],
    "metrics": [
        {"derived": "faithfulness", "criterion": "support", "judge": "checker"},
        {"criterion": "grade"},
        {"field": "latency_ms"},
    ],
    "rule": {"primary": "faithfulness", "margin": 0.05, "guards": [{"metric": "latency_ms", "margin": 100}]},
}


@pytest.fixture
def compared(world: World, write: Write) -> World:
    compare(write)
    return world


@pytest.fixture(scope="module")
def compared_world(module_transaction: None, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Where all tests of a module are about it: imported there as `_world`, it is made once."""
    world = make_world()
    compare(writer(tmp_path_factory.mktemp("compared")))
    return world


def compare(write: Write) -> None:
    """Two versions asked twelve questions each; a judge says of all claims of v2 that they are supported, and of v1
    that every second is."""
    import_questions(write("q.jsonl", [{"id": f"q{n}", "question": f"Question {n}?"} for n in range(QUESTIONS)]))
    freeze()
    rows = [answer(n, version) for version in ("v1", "v2") for n in range(QUESTIONS)]
    command("import_samples", "desk", write("a.jsonl", rows))
    scores = [
        {
            "sample_id": f"q{n}@{version}",
            "unit": f"claim:{claim}",
            "dimension": "support",
            "judge": "checker",
            "score": int(version == "v2" or claim == 0),
        }
        for version in ("v1", "v2")
        for n in range(QUESTIONS)
        for claim in range(2)
    ]
    command("import_scores", "desk", write("s.jsonl", scores))
