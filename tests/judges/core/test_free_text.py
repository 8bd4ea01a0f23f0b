"""Free text has no figures: over the API and by command, whatever would make one says why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.core.errors import Invalid
from annotate.projects.criteria import add_criteria
from annotate.tasks.labelling import submit_task
from judges.core.requirement import require, requirement_of
from judges.core.sample_read import said_about
from judges.kinds.base import Refused
from judges.models import Score
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_sample, make_world, say
from tests.clients import client_of

WORDS = {"key": "missing", "unit": "answer", "scale": "text", "prompt": "What is missing?", "required": False}


@pytest.fixture
def written(db: None) -> World:
    world = make_world()
    add_criteria(project=world.project, specs=[WORDS])
    make_sample(world.project)
    task = world.batch(criteria=("missing",), annotators=[world.ann], overlap=1).tasks.get()
    say(world.ann, task, "answer", "missing", "The opening hours.")
    submit_task(actor=world.ann, task_id=task.pk)
    return world


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "criteria/missing/agreement/", None),
        ("get", "criteria/missing/alignment/", None),
        ("get", "criteria/missing/report/", None),
        ("get", "criteria/missing/requirement/", None),
        ("patch", "criteria/missing/requirement/", {"bar": 0.5}),
        ("get", "criteria/missing/came/", None),
        ("post", "criteria/missing/settle/", {"needed": 1}),
        ("post", "gold/draw/", {"criterion": "missing", "n": 1}),
        ("post", "reports/", {"criterion": "missing"}),
        ("post", "looks/", {"criterion": "missing", "judge": "j"}),
        ("post", "disputes/accept/", {"method": "dawid_skene", "criterion": "missing", "posterior": 0.9}),
    ],
)
def test_the_api_says_why(written: World, method: str, path: str, body: Any) -> None:
    reply = getattr(client_of(written.alice), method)(f"/api/projects/desk/{path}", body, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "free_text"), reply.json()
    assert "free text" in reply.json()["error"]["message"]


def test_a_command_says_why(written: World) -> None:
    with pytest.raises(CommandError, match="free text"):
        call_command("agreement", "desk", "--criterion", "missing")


def test_the_page_of_a_sample_shows_it(written: World) -> None:
    entries = said_about(written.project.samples.get(), reader=written.alice).entries
    assert [[label["value"] for label in entry.labels] for entry in entries] == [["The opening hours."]]


def test_judges_must_show_nothing_on_it(written: World) -> None:
    criterion = written.criteria("missing")[0]
    standing = requirement_of(criterion)
    wanted = {name: getattr(standing, name) for name in ("measure", "bar", "risk", "coverage")}
    with pytest.raises(Invalid, match="free text"):
        require(criterion=criterion, **wanted)


def test_no_judge_is_made_for_it(written: World) -> None:
    with pytest.raises((Invalid, Refused), match="free text"):
        create_judge(project=written.project, name="all", kind="ensemble", config={"criterion": "missing"})


def test_no_scores_come_in_for_it(written: World, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"sample_id": "s1", "unit": "answer", "criterion": "missing", "judge": "j", "score": 1}\n')
    with pytest.raises(CommandError):
        call_command("import_scores", "desk", str(path))
    assert not Score.objects.exists()
