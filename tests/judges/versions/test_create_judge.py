"""manage.py create_judge: a judge from its file, said in one line, or why not in one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Project
from judges.models import Endpoint, Judge, JudgeVersion
from judges.versions.write import judge_spec
from tests.conftest import ROOT
from tests.judges.building import make_project

pytestmark = pytest.mark.django_db

SPEC: dict[str, Any] = {
    "name": "Support, by prompt",
    "kind": "llm",
    "description": "From a template.",
    "endpoint": "main",
    "config": {"criterion": "support", "model": "m", "template": "claim_support"},
}


@pytest.fixture
def project() -> Project:
    project = make_project("desk")
    Endpoint.objects.create(project=project, name="main", base_url="https://models.example/v1")
    return project


@pytest.fixture
def run(project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(spec: Any, slug: str = "desk") -> str:
        file = tmp_path / "judge.json"
        file.write_bytes(spec if isinstance(spec, bytes) else json.dumps(spec).encode())
        call_command("create_judge", slug, file=file)
        return capsys.readouterr().out.strip()

    return run


def test_made_once_and_versioned_after(run: Any) -> None:
    assert run(SPEC) == "Created judge “Support, by prompt” (llm), version 1, in use."
    assert run(SPEC) == "That is version 1 of “Support, by prompt” already, in use. Nothing to make."
    other = {**SPEC, "config": {**SPEC["config"], "temperature": 0.7}}
    assert run(other) == "“Support, by prompt” is there already: made its version 2, in use."
    assert run(SPEC) == (
        "That is version 1 of “Support, by prompt” already, and version 2 is in use. "
        "Drop what came later to go back to it."
    )
    first, second = JudgeVersion.objects.order_by("number")
    assert (second.based_on, first.based_on) == (first, None)
    # What a version describes makes it again.
    assert run(judge_spec(second)).startswith("That is version 2")
    assert run({**judge_spec(second), "name": "The same"}) == "Created judge “The same” (llm), version 1, in use."


def test_the_examples_of_the_documentation(run: Any) -> None:
    written = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
    specs = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", written, re.DOTALL)]
    of_llm = [spec for spec in specs if spec.get("kind") == "llm"]
    assert len(of_llm) >= 2
    for spec in of_llm:
        assert run(spec).startswith("Created judge")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (b"{", "Not JSON"),
        (b'{"name": "a", "name": "b"}', "The key “name” comes twice"),
        ([], "Must be an object"),
        ({**SPEC, "colour": "red"}, "colour: unknown field. Must be one of: name, kind,"),
        ({"name": "a", "kind": "llm"}, "config: required."),
        ({**SPEC, "name": ""}, "name: must be text of 1 to 200 characters."),
        ({**SPEC, "kind": "oracle"}, "Judges of the kind “oracle” can’t be run here. Those that can: llm,"),
        ({**SPEC, "endpoint": "second"}, "endpoint: “second” not found in this project. Must be one of main."),
        ({**SPEC, "config": {**SPEC["config"], "model": 5}}, "config.model: Must be text"),
        ({**SPEC, "config": {**SPEC["config"], "template": "x"}}, "config.template: Must be one of: claim_support,"),
        ({**SPEC, "config": {**SPEC["config"], "criterion": "x"}}, "config.criterion: Must be one of"),
        ({**SPEC, "config": {**SPEC["config"], "top_p": 1}}, "config.top_p: Unknown field. Must be one of:"),
    ],
)
def test_what_is_wrong_takes_one_line(spec: Any, said: str, run: Any) -> None:
    with pytest.raises(CommandError) as refused:
        run(spec)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not Judge.objects.exists()


def test_one_of_its_name_that_is_another(run: Any, project: Project) -> None:
    run(SPEC)
    with pytest.raises(CommandError, match="kind: “Support, by prompt” already exists with the kind llm"):
        run({**SPEC, "kind": "lexical"})
    with pytest.raises(CommandError, match="higher_is_better: “Support, by prompt” already exists"):
        run({**SPEC, "higher_is_better": False})
    Judge.objects.create(project=project, name="From a file")
    with pytest.raises(CommandError, match="with the kind imported"):
        run({**SPEC, "name": "From a file"})


def test_neither_file_nor_project(run: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        call_command("create_judge", "desk", file=tmp_path / "nowhere.json")
    with pytest.raises(CommandError, match="no project"):
        run(SPEC, slug="nowhere")
