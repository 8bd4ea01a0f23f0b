"""The example of docs/ci.md, as it stands: a build's answers are pushed, judged by an LLM judge in a real worker, and
compared with a bar, over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Sample, User
from annotate.projects.accounts import make_token
from annotate.projects.write import set_member
from judges.certificates.write import issue_certificate, look_at_test
from judges.models import Endpoint, Judge
from judges.versions.write import create_judge
from tests.conftest import ROOT
from tests.judges.building import add_labels, add_samples, add_scores, drawn_in_full, make_project
from tests.openai_server import OpenAIServer, Reply, Request, chat
from tests.processes import LiveApp, Worker

SCRIPT = ROOT / "docs" / "examples" / "ci_gate.py"
LABELLED = 160
ANSWERS = 40
CRITERION = {
    "key": "right",
    "unit": "answer",
    "scale": "binary",
    "prompt": "Is it right?",
    "options": [{"value": "yes"}, {"value": "no"}],
    "pass": ["yes"],
}


@pytest.fixture
def token(transactional_db: None, openai_server: OpenAIServer) -> str:
    """Of the admin of a project with a certified LLM judge at the loopback server, which passes what says “port”."""
    openai_server.answers(answered)
    project = make_project("triage", criteria=[CRITERION])
    admin = User.objects.create_user("alma")
    set_member(project=project, user=admin, role="admin")
    Endpoint.objects.create(project=project, name="loop", base_url=openai_server.url, price_in=1, price_out=1)
    config = {"criterion": "right", "model": "m", "prompt": "{{question}}\n{{answer}}", "rationale": False}
    judge = create_judge(project=project, name="strict-llm", kind="llm", config=config, endpoint="loop")
    certify(judge)
    return str(make_token(actor=admin, scopes=["push"])[1])


def certify(judge: Judge) -> None:
    """By labels and scores as they would have come before: people pass every other answer, the judge errs now and then,
    in both directions."""
    project, (criterion,), (version,) = judge.project, judge.project.criteria.all(), judge.versions.all()
    samples = add_samples(project, [f"q{place:03}" for place in range(LABELLED)])
    said = {name: "yes" if place % 2 else "no" for place, name in enumerate(samples)}
    rows = [(name, "answer", who, value) for name, value in said.items() for who in ("ann", "ben")]
    add_labels(criterion, samples, rows)
    drawn_in_full(criterion)
    other = {"yes": "no", "no": "yes"}
    judged = [
        (name, "answer", other[value] if place % 16 == 3 or place % 32 == 8 else value)
        for place, (name, value) in enumerate(said.items())
    ]
    add_scores(version, samples, judged, dimension="right")
    issue_certificate(look=look_at_test(criterion=criterion, judge_name=judge.name))


def answered(request: Request) -> Reply:
    if "no idea" in request.prompt:
        return chat('{"value": "perhaps"}')
    return chat(json.dumps({"value": "yes" if "port" in request.prompt else "no"}))


def answers(path: Path, right: int, *, unreadable: int = 0) -> Path:
    """A build's answers, of which so many are right, and so many make the judge say what cannot be parsed."""
    texts = ["On port 8000."] * right + ["It listens."] * (ANSWERS - right)
    texts[ANSWERS - unreadable :] = ["I have no idea."] * unreadable
    rows = [{"id": f"kb-{n:02}", "question": f"Where, {n}?", "answer": text} for n, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def gate(app: LiveApp, token: str, build: str, samples: Path, **change: Any) -> tuple[int, str]:
    """Exit code, and what it said."""
    options = {
        "project": "triage", "build": build, "samples": samples, "judge": "strict-llm", "criterion": "right",
        "min-kappa": 0.5, "min-pass-rate": 0.6, "budget": "2.50", "every": 0.1, "wait": 60, **change,
    }  # fmt: skip
    arguments = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    # As in a pipeline: nothing of this project is there to be imported.
    environment = {"TOUCHSTONE_URL": app.url, "TOUCHSTONE_TOKEN": token, "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, *arguments], env=environment, capture_output=True, text=True, timeout=90
    )
    return done.returncode, done.stdout + done.stderr


def test_builds_pass_fail_and_are_not_decided(
    live_app: LiveApp, worker: Worker, token: str, openai_server: OpenAIServer, tmp_path: Path
) -> None:
    good = answers(tmp_path / "good.jsonl", right=38)
    code, said = gate(live_app, token, "v7", good)
    assert code == 0, said
    assert "Pushed 40 samples of “v7”" in said
    assert "40 of 40 units scored (100.0%)" in said
    assert "The build passes." in said
    assert len(openai_server.requests) == ANSWERS
    assert Sample.objects.get(external_id="kb-00@v7").pipeline_version == "v7"

    # The job is run again: nothing is pushed twice, asked twice, or paid twice.
    code, said = gate(live_app, token, "v7", good)
    assert (code, len(openai_server.requests)) == (0, ANSWERS), said
    assert "0 samples of “v7”; 40 were there" in said

    code, said = gate(live_app, token, "v8", answers(tmp_path / "bad.jsonl", right=20))
    assert code == 1, said
    assert "The build does not pass." in said
    # Of the same question and answer the reply is kept.
    assert len(openai_server.requests) == ANSWERS + 18

    code, said = gate(live_app, token, "v9", answers(tmp_path / "odd.jsonl", right=30, unreadable=8))
    assert code == 2, said
    assert "8 units have no score" in said
    assert "parse_error" in said
    assert "80.0% of the units have a score" in said

    # A judge that isn't good enough, a file that is none, and answers that are not those of this build.
    code, said = gate(live_app, token, "v10", good, **{"min-kappa": 0.99})
    assert (code, Sample.objects.filter(pipeline_version="v10").exists()) == (2, False), said
    code, said = gate(live_app, token, "v7", answers(tmp_path / "other.jsonl", right=37))
    assert code == 2, said
    assert "row 38, id: The project has a sample “kb-37@v7” with other content" in said
    code, said = gate(live_app, "ts_wrong", "v7", good)
    assert (code, "401" in said) == (2, True), said
    assert token not in said
