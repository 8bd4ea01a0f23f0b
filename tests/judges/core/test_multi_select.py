"""Multi-select has verdicts but no figures: over the API and by command, whatever would make one says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.core.errors import Invalid
from annotate.projects.criteria import add_criteria
from annotate.projects.read import rated_criteria, voted_criteria
from annotate.tasks.labelling import submit_task
from judges.core.requirement import require, requirement_of
from judges.core.sample_read import said_about
from judges.kinds.base import Refused
from judges.models import Score
from judges.versions.write import create_judge
from tests.annotate.factories import World, make_sample, make_world, say
from tests.annotate.projects.test_multi_select import FAULTS
from tests.clients import client_of


@pytest.fixture
def labelled(db: None) -> World:
    world = make_world()
    add_criteria(project=world.project, specs=[FAULTS])
    make_sample(world.project)
    task = world.batch(criteria=("faults",), annotators=[world.ann], overlap=1).tasks.get()
    say(world.ann, task, "answer", "faults", ["tone", "wrong"])
    submit_task(actor=world.ann, task_id=task.pk)
    return world


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "criteria/faults/agreement/", None),
        ("get", "criteria/faults/alignment/", None),
        ("get", "criteria/faults/report/", None),
        ("get", "criteria/faults/requirement/", None),
        ("patch", "criteria/faults/requirement/", {"bar": 0.5}),
        ("get", "criteria/faults/came/", None),
        ("post", "gold/draw/", {"criterion": "faults", "n": 1}),
        ("post", "reports/", {"criterion": "faults"}),
        ("post", "looks/", {"criterion": "faults", "judge": "j"}),
        (
            "post",
            "disputes/accept/",
            {"method": "dawid_skene", "criterion": "faults", "posterior": 0.9, "dry_run": True},
        ),
    ],
)
def test_the_api_says_why(labelled: World, method: str, path: str, body: Any) -> None:
    reply = getattr(client_of(labelled.alice), method)(f"/api/projects/desk/{path}", body, format="json")
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "multi_select"), reply.json()
    assert "is multi-select" in reply.json()["error"]["message"]


def test_a_command_says_why(labelled: World) -> None:
    with pytest.raises(CommandError, match="is multi-select"):
        call_command("agreement", "desk", "--criterion", "faults")


def test_it_has_verdicts_and_no_figures(labelled: World) -> None:
    assert "faults" in voted_criteria(labelled.project).values_list("key", flat=True)
    assert "faults" not in rated_criteria(labelled.project).values_list("key", flat=True)
    [entry] = said_about(labelled.project.samples.get(), reader=labelled.alice).entries
    assert [label["value"] for label in entry.labels] == [["wrong", "tone"]]
    assert entry.verdict is not None
    assert entry.verdict.value == ["wrong", "tone"]


def test_judges_must_show_nothing_on_it(labelled: World) -> None:
    criterion = labelled.criteria("faults")[0]
    standing = requirement_of(criterion)
    wanted = {name: getattr(standing, name) for name in ("measure", "bar", "risk", "coverage")}
    with pytest.raises(Invalid, match="multi-select"):
        require(criterion=criterion, **wanted)


def test_no_judge_is_made_for_it(labelled: World) -> None:
    with pytest.raises((Invalid, Refused), match="multi-select"):
        create_judge(project=labelled.project, name="all", kind="ensemble", config={"criterion": "faults"})


def test_no_scores_come_in_for_it(labelled: World, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text('{"sample_id": "s1", "unit": "answer", "criterion": "faults", "judge": "j", "score": 1}\n')
    with pytest.raises(CommandError):
        call_command("import_scores", "desk", str(path))
    assert not Score.objects.exists()
