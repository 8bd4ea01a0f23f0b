"""The workflow of docs/ci.md for systems: its shell steps as they stand, one after the other, at the real server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from annotate.models import Batch, Project
from annotate.projects.accounts import make_token
from systems.models import Response
from tests.annotate.factories import World, make_world
from tests.conftest import ROOT
from tests.processes import LiveApp
from tests.systems.building import command, freeze, import_questions
from tests.systems.experiments.building import label

Write = Callable[..., Path]

SHA = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
VERSION = SHA[:12]
QUESTIONS = 40
RULE = {
    "set": "support@1",
    "versions": ["v1", "$VERSION"],
    "metrics": [{"derived": "faithfulness"}, {"field": "latency_ms"}],
    "rule": {"primary": "faithfulness", "margin": 0.05, "guards": []},
}
GATE = """
version: 1
candidate: "$VERSION"
baseline: v1
conditions:
  - {metric: faithfulness, versus: bar, bar: 0.6, min_labelled: 40}
  - {metric: faithfulness, versus: baseline, margin: 0.2}
"""
ANSWER = """
import json
for n in range(40):
    claims = ["It opens at nine.", "It closes at five."]
    print(json.dumps({"question_id": f"q{n}", "answer": " ".join(claims), "claims": claims, "latency_ms": 100 + n}))
"""
GH = """#!/bin/sh
echo "$@" > gh.txt
"""


def workflow() -> dict[str, Any]:
    blocks = (ROOT / "docs" / "ci.md").read_text().split("```yaml\n")
    found: dict[str, Any] = yaml.safe_load(blocks[-1].partition("```")[0])
    return found


@pytest.fixture
def asked(transactional_db: None, write: Write) -> World:
    """A project where v1 has answered a test set."""
    world = make_world()
    import_questions(write("q.jsonl", [{"id": f"q{n}", "question": f"Question {n}?"} for n in range(QUESTIONS)]))
    freeze()
    answers = [
        {"question_id": f"q{n}", "pipeline_version": "v1", "answer": "It opens.", "claims": ["It opens."]}
        for n in range(QUESTIONS)
    ]
    command("import_samples", "desk", write("a.jsonl", answers))
    # As the page calls it.
    Project.objects.filter(pk=world.project.pk).update(slug="triage")
    return world


@pytest.fixture
def token(asked: World) -> str:
    """Of its admin."""
    return str(make_token(actor=asked.alice, scopes=["push"])[1])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The repository of the system, with the files that the page speaks of; `python3` and `gh` are what is at hand."""
    folder, programs = tmp_path / "checkout", tmp_path / "bin"
    (folder / "ci").mkdir(parents=True)
    programs.mkdir()
    for script in ("systems_gate.py", "ci_gate.py"):
        shutil.copy(ROOT / "docs" / "examples" / script, folder / "ci")
    (folder / "ci" / "experiment.json").write_text(json.dumps(RULE))
    (folder / "ci" / "gate.yaml").write_text(GATE)
    (folder / "ci" / "answer.py").write_text(ANSWER)
    (programs / "python3").symlink_to(sys.executable)
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    return folder


def run(checkout: Path, app: LiveApp, token: str) -> tuple[list[int], str]:
    """The job of the workflow: the exit code of each shell step that runs, and all they say."""
    job = workflow()["jobs"]["gate"]
    given = {"TOUCHSTONE_URL": app.url, "TOUCHSTONE_TOKEN": token, "GH_TOKEN": "none", "GITHUB_SHA": SHA}
    assert set(job["env"]) == set(given) - {"GITHUB_SHA"}
    path = f"{checkout.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "GITHUB_REF": "refs/pull/7/merge", **given}
    codes, said = [], ""
    for step in job["steps"]:
        if "run" in step and (not any(codes) or "always()" in step.get("if", "")):
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=checkout, env=environment, capture_output=True, text=True, timeout=90,
            )  # fmt: skip
            codes.append(done.returncode)
            said += done.stdout + done.stderr
    return codes, said


def test_a_version_waits_for_labels_then_passes_and_a_server_that_is_away_is_no_fail(
    live_app: LiveApp, asked: World, token: str, checkout: Path
) -> None:
    codes, said = run(checkout, live_app, token)
    assert codes == [0, 2, 0], said
    assert "Pushed 40 samples" in said
    assert "Drew 40 questions to be labelled" in said
    assert (checkout / "gh.txt").read_text() == "pr comment 7 --body-file gate/gate.md --edit-last --create-if-none\n"
    assert "Cannot tell" in (checkout / "gate" / "gate.md").read_text()
    assert Response.objects.filter(version__name=VERSION).count() == QUESTIONS

    # Run again once people have labelled, nothing is pushed, made or drawn twice.
    batch = Batch.objects.get()
    label(asked, batch, lambda task, unit: "yes")
    codes, said = run(checkout, live_app, token)
    assert codes == [0, 0, 0], said
    assert "Pushed 0 samples" in said
    assert f"{VERSION} against v1 passes: 2 of 2 required conditions met." in said
    assert Batch.objects.get() == batch
    suite = ET.parse(checkout / "gate" / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "0")
    assert json.loads((checkout / "gate" / "gate.json").read_text())["exit_code"] == 0

    (checkout / "ci" / "gate.yaml").write_text(GATE.replace("0.6", "0.999"))
    codes, said = run(checkout, live_app, token)
    assert codes == [0, 1, 0], said
    (checkout / "ci" / "gate.yaml").write_text(GATE.replace("baseline: v1", "baseline: v0"))
    codes, said = run(checkout, live_app, token)
    assert (codes, "baseline: expected “v1”, as in the experiment, not “v0”" in said) == ([0, 3, 0], True), said
    codes, said = run(checkout, live_app, "ts_wrong")
    assert (codes, "401" in said) == ([0, 3, 0], True), said
    assert token not in said


def test_the_workflow_runs_for_pull_requests_and_every_night_and_keeps_what_was_said() -> None:
    found = workflow()
    # YAML 1.1 reads the key `on` as true.
    assert set(found[True]) == {"pull_request", "schedule"}
    used = [step["uses"].partition("@")[0] for step in found["jobs"]["gate"]["steps"] if "uses" in step]
    assert used == ["actions/checkout", "actions/setup-python", "actions/upload-artifact"]
