"""docs/api.md, run as it stands: each of its blocks, in their order, with people who label in between."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from annotate.models import Sample, Task, User
from annotate.projects.accounts import make_token
from annotate.tasks.labelling import submit_task
from tests.annotate.factories import say
from tests.conftest import ROOT
from tests.processes import LiveApp, Worker

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
FIRST, *REST = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(WAITS,) = [place for place, block in enumerate(REST) if "until " in block]


def label_everything() -> None:
    for task in Task.objects.select_related("annotator", "sample"):
        number = int(task.sample.external_id.removeprefix("kb-").removesuffix("@v7"))
        say(task.annotator, task, "answer", "correctness", 9 if number % 2 or number == 4 else 2)
        submit_task(actor=task.annotator, task_id=task.pk)


def run(blocks: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What they print. The first block, which defines what the others use, goes before."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join([FIRST, *blocks])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.usefixtures("importer", "worker")
def test_every_call_of_the_page_works(live_app: LiveApp, tmp_path: Path, worker: Worker) -> None:
    admin = User.objects.create_user("alice", is_staff=True)
    for name in ("ana", "ben", "rita"):
        User.objects.create_user(name)
    _stored, token = make_token(actor=admin, scopes=["admin"])
    environment = {**os.environ, "TOUCHSTONE_URL": live_app.url, "TOUCHSTONE_TOKEN": token, "PART": "1000"}

    printed = run(REST[:WAITS], tmp_path, environment)
    assert "/invite/" in printed
    assert '"row": 1' in printed
    assert printed.endswith("open\n")
    assert Sample.objects.count() == 80
    label_everything()
    printed = run(REST[WAITS:], tmp_path, environment)
    assert printed.endswith("truth.jsonl: OK\n")
    assert len((tmp_path / "truth.jsonl").read_text().splitlines()) == 80
    gate = json.loads((tmp_path / "gate.json").read_text())
    assert (gate["passed"], bool(gate["reason"])) == (False, True)
