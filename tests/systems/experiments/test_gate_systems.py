"""`manage.py gate_systems` and the gate by API, on an experiment whose answers people labelled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from systems.models import ExperimentFigures
from tests.annotate.factories import World
from tests.clients import client_of
from tests.conftest import ROOT
from tests.database import copied_from_world
from tests.systems.building import command
from tests.systems.experiments.building import create, draw, figures, label
from tests.systems.experiments.conftest import SPEC
from tests.systems.experiments.conftest import compared_world as _world  # noqa: F401

Write = Callable[..., Path]

compared = copied_from_world()

TOP = {"version": 1, "candidate": "v2", "baseline": "v1"}
GOOD = {"metric": "faithfulness", "versus": "bar", "bar": 0.6, "min_labelled": 8}
BETTER = {"metric": "faithfulness", "versus": "baseline", "margin": 0.9}
SLOWER = {"metric": "latency_ms", "versus": "baseline", "margin": 0, "by": "point"}


@pytest.fixture
def experiment(compared: World, write: Write) -> World:
    create(write, SPEC)
    return compared


@pytest.fixture
def labelled(experiment: World) -> World:
    label(experiment, draw(12), lambda task, unit: "yes")
    return experiment


def gate(write: Write, *conditions: dict[str, Any], form: str = "text", **top: Any) -> tuple[int, str, str]:
    """The exit code, and what is printed for programs and said for people. JSON is YAML."""
    path = write("gate.yaml", json.dumps({**TOP, "conditions": list(conditions), **top}))
    out = StringIO()
    try:
        call_command("gate_systems", "desk", "v2-or-v1", "--file", str(path), "--format", form, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


def test_every_exit_code(labelled: World, write: Write) -> None:
    assert gate(write, GOOD)[0] == 0
    code, out, said = gate(write, GOOD, SLOWER)
    assert code == 1
    assert "fail  " in out
    assert said.startswith("v2 against v1 fails: 1 of 2 required conditions met. latency_ms, v2 − v1, is +50")
    code, _out, said = gate(write, GOOD | {"min_labelled": 13})
    assert (code, "12 labelled of each version, and 13 are asked for" in said) == (2, True)
    assert gate(write, GOOD | {"min_labelled": 13}, SLOWER)[0] == 1
    assert gate(write, GOOD, SLOWER | {"required": False})[0] == 0
    code, out, said = gate(write, GOOD | {"metric": "bleu"})
    assert (code, out) == (3, "")
    assert "gate.yaml: conditions[1].metric: expected “faithfulness” or “grade” or “latency_ms”, not “bleu”." in said
    assert gate(write, GOOD, candidate="v9")[0] == 3
    assert gate(write, GOOD, strict=True)[0] == 3


def test_before_anyone_labelled_nobody_can_tell_whatever_the_judge_says(experiment: World, write: Write) -> None:
    assert figures()["metrics"][0]["levels"][1]["raw"]["value"] == 1.0
    code, _out, said = gate(write, GOOD | {"min_labelled": 0})
    assert code == 2
    assert "faithfulness: it cannot be told (no labelled" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["desk", "v2-or-v1"],
        ["desk", "v2-or-v1", "--file", "nowhere.yaml"],
        ["desk", "v2-or-v1", "--file", "{file}", "--format", "xml"],
        ["desk", "other", "--file", "{file}"],
        ["nowhere", "v2-or-v1", "--file", "{file}"],
    ],
)
def test_what_cannot_be_asked_is_neither_a_fail_nor_a_doubt(
    experiment: World, write: Write, arguments: list[str]
) -> None:
    path = write("gate.yaml", json.dumps({**TOP, "conditions": [GOOD]}))
    with pytest.raises(CommandError) as refused:
        call_command("gate_systems", *(one.format(file=path) for one in arguments), stdout=StringIO())
    assert refused.value.returncode == 3
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_text_is_refused(experiment: World, tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CommandError, match="expected UTF-8") as refused:
        call_command("gate_systems", "desk", "v2-or-v1", "--file", str(path))
    assert refused.value.returncode == 3


def test_a_fault_of_the_server_is_not_a_fail(labelled: World, write: Write) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE systems_experimentrule RENAME TO elsewhere")
    code, _out, said = gate(write, GOOD)
    assert (code, "ProgrammingError" in said) == (3, True)


@pytest.mark.parametrize("command", ["gate", "gate_systems"])
def test_a_database_that_is_away_is_not_a_fail(command: str, tmp_path: Path) -> None:
    """Of a process of its own, as a pipeline starts it."""
    unreachable = "postgresql://nobody@127.0.0.1:9/nothing"
    environment = {**os.environ, "DATABASE_URL": unreachable, "REDIS_URL": "redis://127.0.0.1:9/0"}
    environment |= {"DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", command, "desk"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == {"gate": 2, "gate_systems": 3}[command], done.stderr


def test_formats_for_programs(labelled: World, write: Write) -> None:
    code, out, _said = gate(write, GOOD, SLOWER, form="json")
    found = json.loads(out)
    assert (code, found["outcome"], found["exit_code"], found["set"]) == (1, "fail", 1, "support@1")
    first, second = found["conditions"]
    assert (first["outcome"], first["labelled"], second["outcome"], second["labelled"]) == ("pass", 12, "fail", None)
    assert first["figures"]["candidate"]["value"] == 1.0
    assert second["figures"]["difference"]["value"] == pytest.approx(50)
    suite = ET.fromstring(gate(write, GOOD, SLOWER, form="junit")[1])
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    page = gate(write, GOOD, SLOWER, form="markdown")[1]
    assert "/p/desk/systems/experiments/v2-or-v1/)" in page


def test_by_api_it_says_the_same(labelled: World, write: Write) -> None:
    address = "/api/projects/desk/experiments/v2-or-v1/gate/"
    text = json.dumps({**TOP, "conditions": [GOOD, SLOWER]})
    figures()
    reply = client_of(labelled.rita).post(address, {"gate": text}, format="json")
    found = reply.json()
    assert reply.status_code == 200
    printed = json.loads(gate(write, GOOD, SLOWER, form="json")[1])
    assert {name: found[name] for name in printed} == printed
    assert found["is_out_of_date"] is False
    assert found["markdown"] + "\n" == gate(write, GOOD, SLOWER, form="markdown")[1]
    assert found["junit"] + "\n" == gate(write, GOOD, SLOWER, form="junit")[1]
    wrong = client_of(labelled.rita).post(address, {"gate": "version: 1"}, format="json")
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (
        422,
        "gate.yaml: candidate: expected a value, not nothing.",
    )


def test_by_api_it_says_whether_its_figures_are_out_of_date(labelled: World, write: Write) -> None:
    """It works out none: it tells what was so."""
    figures()
    rows = [
        {"question_id": f"q{n}", "pipeline_version": "v2", "repeat": 1, "status": "failed", "error": "timeout"}
        for n in range(12)
    ]
    command("import_samples", "desk", write("failed.jsonl", rows))
    asked = {"gate": json.dumps({**TOP, "conditions": [GOOD]})}
    reply = client_of(labelled.alice).post("/api/projects/desk/experiments/v2-or-v1/gate/", asked, format="json")
    assert (reply.json()["exit_code"], reply.json()["is_out_of_date"]) == (0, True)
    assert gate(write, GOOD)[0] == 1


def test_by_api_nothing_is_stored_and_only_those_who_may_are_told(experiment: World) -> None:
    address = "/api/projects/desk/experiments/v2-or-v1/gate/"
    asked = {"gate": json.dumps({**TOP, "conditions": [GOOD]})}
    assert client_of(experiment.rita).post(address, asked, format="json").status_code == 404
    assert not ExperimentFigures.objects.exists()
    assert client_of(experiment.ann).post(address, asked, format="json").status_code == 403
    assert client_of(experiment.charlie).post(address, asked, format="json").status_code == 404


def test_who_still_has_an_answer_to_label_is_told_nothing(experiment: World) -> None:
    figures()
    draw(4, "--annotators", "rita")
    address = "/api/projects/desk/experiments/v2-or-v1/gate/"
    asked = {"gate": json.dumps({**TOP, "conditions": [GOOD]})}
    reply = client_of(experiment.rita).post(address, asked, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "still_to_label")
