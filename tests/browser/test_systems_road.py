"""From a file of questions to a gate: two builds pushed by the client, a judge, labels that were drawn, the verdict,
the questions whose answers changed, and a pipeline that asks whether the build may be shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from touchstone_client import Client

from annotate.models import Label, Project, Task, User
from annotate.projects.accounts import make_token
from annotate.projects.write import create_project, set_member
from judges.models import Score
from systems.models import ExperimentFigures, FrozenSet
from tests.browser.conftest import SUPPORT, claims_in, wait_for_next_task
from tests.conftest import ROOT
from tests.processes import environment

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

    from tests.processes import LiveApp

QUESTIONS, DRAWN, ANNOTATORS = 40, 24, ("ana", "ben")
AMBER, VIOLET = "amber-build", "violet-build"
# Which branches each build has closing at ten, where the context says nine.
WRONG = {AMBER: {n for n in range(QUESTIONS) if n % 3}, VIOLET: {n for n in range(QUESTIONS) if n % 12 == 3}}
GATE = f"""
version: 1
candidate: {VIOLET}
baseline: {AMBER}
conditions:
  - {{metric: faithfulness, versus: bar, bar: 0.5, by: lower, min_labelled: 20}}
  - {{metric: faithfulness, versus: baseline, margin: 0.05}}
"""


@pytest.fixture
def project(transactional_db: None) -> Project:
    alma = User.objects.create_user("alma", is_staff=True, preferences={"introduced": True})
    project = create_project(slug="branches", spec={"name": "Branches", "criteria": [SUPPORT]}, created_by=alma)
    for name in ANNOTATORS:
        annotator = User.objects.create_user(name, preferences={"introduced": True})
        set_member(project=project, user=annotator, role="annotator")
    return project


@pytest.mark.usefixtures("worker")
def test_from_a_test_set_to_a_gate(
    live_app: LiveApp, project: Project, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    admin = new_page(User.objects.get(username="alma"))
    _import_a_test_set(admin, live_app.url, tmp_path / "questions.jsonl")
    _push_both_builds(live_app.url)
    _run_a_judge(admin)
    assert Score.objects.filter(status="ok").count() == 2 * QUESTIONS
    _create_an_experiment(admin)
    _draw(admin)
    assert Task.objects.count() == 2 * 2 * DRAWN

    for name in ANNOTATORS:
        page = new_page(User.objects.get(username=name))
        received = _bodies(page)
        _label_everything(page, live_app.url)
        told = "".join(received)
        assert "Branch" in told
        # The versions stay hidden from who labels, in every response.
        assert not [name for name in (AMBER, VIOLET, "amber", "violet") if name in told.lower()]
    assert Label.objects.count() == 2 * 2 * DRAWN

    _read_the_verdict(admin)
    assert ExperimentFigures.objects.latest("id").result["verdict"] == "better"
    _read_what_changed(admin)
    code, markdown = _gate(tmp_path)
    assert code == 0, markdown
    assert markdown.startswith(f"**✅ Pass:** {VIOLET} against {AMBER} on hours@1\n")
    head, _line, *conditions = [line for line in markdown.splitlines() if line.startswith("|")]
    assert f"| {AMBER} | {VIOLET} |" in head
    assert [row.split(" | ")[-1].strip(" |") for row in conditions] == ["✅ pass", "✅ pass"]


def _import_a_test_set(page: Page, url: str, path: Path) -> None:
    rows = [{"id": f"q{n}", "question": f"When does branch {n} close?"} for n in range(QUESTIONS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page.goto(f"{url}/p/branches/systems/")
    page.get_by_role("link", name="Import questions").first.click()
    page.locator("[name=set_name]").fill("hours")
    page.locator("[name=file]").set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_selector("dt:has-text('Rows read')")
    page.goto("/p/branches/systems/sets/hours/")
    page.get_by_role("button", name="Freeze as hours@1").click()
    page.get_by_text("Same as hours@1").first.wait_for()
    assert FrozenSet.objects.get().manifest["questions"] == QUESTIONS


def _push_both_builds(url: str) -> None:
    _stored, token = make_token(actor=User.objects.get(username="alma"), scopes=["push"])
    with Client(url, token) as client:
        for build in (AMBER, VIOLET):
            done = client.project("branches").push_responses(build, _answers(build))
            assert (done.answered, done.failed) == (QUESTIONS, 0)


def _answers(build: str) -> Iterator[dict[str, Any]]:
    for n in range(QUESTIONS):
        answer = f"Branch {n} closes at {'ten' if n in WRONG[build] else 'nine'}."
        yield {
            "question_id": f"q{n}",
            "answer": answer,
            "claims": claims_in(answer, answer),
            "contexts": [{"id": f"branch/{n}", "text": f"Branch {n} closes at nine."}],
        }


def _run_a_judge(page: Page) -> None:
    page.goto("/p/branches/judges/")
    page.get_by_role("link", name="New judge").first.click()
    page.get_by_role("link", name="Token overlap").click()
    page.get_by_label("Criterion").select_option("support")
    page.get_by_role("button", name="Create judge").click()
    page.get_by_role("link", name="Run …").click()
    page.get_by_role("button", name="Start run").click()
    page.wait_for_selector("h1 .badge:has-text('Done')")


def _create_an_experiment(page: Page) -> None:
    page.goto("/p/branches/systems/new-experiment/")
    page.locator("[name=name]").fill("violet-or-amber")
    page.locator("[name=frozen]").select_option(label="hours@1")
    for build in (AMBER, VIOLET):
        page.locator("[name=versions]").and_(page.get_by_label(build)).check()
    page.locator("[name=baseline]").select_option(AMBER)
    page.get_by_label("Role of Faithfulness").select_option("primary")
    page.get_by_label("Judge of Faithfulness").select_option("token-overlap")
    page.get_by_role("button", name="Create experiment").click()
    page.wait_for_url("**/systems/experiments/violet-or-amber/")


def _draw(page: Page) -> None:
    page.goto("/p/branches/systems/experiments/violet-or-amber/draw/")
    page.locator("[name=questions]").fill(str(DRAWN))
    for name in ANNOTATORS:
        page.get_by_label(name, exact=False).first.check()
    page.get_by_role("button", name="Draw labels").click()
    page.wait_for_load_state()


def _bodies(page: Page) -> list[str]:
    """All text that the page receives from now on."""
    found: list[str] = []

    def keep(response: Response) -> None:
        kind = response.headers.get("content-type", "")
        if ("json" in kind or "html" in kind) and response.status < 300:
            found.append(response.text())

    page.on("response", keep)
    return found


def _label_everything(page: Page, url: str) -> None:
    page.goto(f"{url}/p/branches/label/")
    while page.wait_for_selector('html[data-stage="task"], html[data-stage="done"]'):
        if page.evaluate("document.documentElement.dataset.stage") == "done":
            break
        task = page.evaluate("document.documentElement.dataset.taskId")
        for key in ("2" if "closes at ten." in page.inner_text("#work") else "1", "Enter"):
            page.keyboard.press(key)
        wait_for_next_task(page, task)
    page.wait_for_selector('#save-state[data-state="saved"]')


def _read_the_verdict(page: Page) -> None:
    page.goto("/p/branches/systems/experiments/violet-or-amber/")
    page.locator("form[action$='/figures/'] button").first.click()
    page.get_by_text(f"{VIOLET} is better on Faithfulness.", exact=True).first.wait_for()


def _read_what_changed(page: Page) -> None:
    """Of the drawn questions those first that got worse."""
    page.goto("/p/branches/systems/experiments/violet-or-amber/questions/")
    cards = page.locator("ol.pairs > li")
    flipped = [card.inner_text() for card in cards.all() if "1 → 0" in card.inner_text()]
    assert flipped
    assert "1 → 0" in cards.first.inner_text()
    assert "removed:\nnine." in flipped[0]
    assert "added:\nten." in flipped[0]


def _gate(folder: Path) -> tuple[int, str]:
    """A step of a pipeline, in a shell."""
    (folder / "gate.yaml").write_text(GATE, encoding="utf-8")
    gate = "manage.py gate_systems branches violet-or-amber"
    step = f"{sys.executable} {gate} --file '{folder}/gate.yaml' --format markdown"
    done = subprocess.run(
        ["bash", "-e", "-c", step], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=90
    )
    return done.returncode, done.stdout + done.stderr
