"""A judge by keyboard alone: made, run by the real worker against a real server, watched, and compared with people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import User
from annotate.projects.write import set_member
from annotate.tasks.labelling import submit_task
from judges.models import Endpoint, Judge, JudgeVersion, Run, Score, VersionState
from tests.annotate.factories import say
from tests.browser.conftest import Desk, _hashed
from tests.judges.lab.test_trials import make_world

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.openai_server import OpenAIServer
    from tests.processes import Worker


def press(target: Locator) -> None:
    target.focus()
    target.press("Enter")


def test_from_a_template_to_the_report(
    desk: Desk, worker: Worker, openai_server: OpenAIServer, new_page: Callable[..., Page]
) -> None:
    for task in desk.batch.tasks.select_related("annotator"):
        for unit in ("claim:0", "claim:1"):
            say(task.annotator, task, unit, "support", "supported")
        submit_task(actor=task.annotator, task_id=task.pk)
    Endpoint.objects.create(project=desk.project, name="loopback", base_url=openai_server.url, price_in=1, price_out=2)
    openai_server.latency = 0.05

    page = new_page(desk.alma)
    page.goto("/p/desk/judges/")
    press(page.get_by_role("link", name="New judge"))
    press(page.get_by_role("link", name="Claim support, with evidence"))
    model = page.get_by_label("Model", exact=True)
    model.focus()
    page.keyboard.type("overlap-small")
    prompt = page.get_by_label("Prompt")
    prompt.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n\nThe question to people: ")
    press(page.get_by_role("button", name="{{criterion}}"))
    page.wait_for_selector("textarea:focus")
    assert prompt.input_value().endswith("The question to people: {{criterion}}")
    press(model)

    page.wait_for_url("**/p/desk/judges/*/")
    assert "Run it to get scores" in page.locator("[role=status]").first.inner_text()
    version = Judge.objects.get(name="claim-support").versions.get()
    assert version.config["prompt"].endswith("{{criterion}}")
    press(page.get_by_role("link", name="Run …"))
    page.wait_for_selector("#estimate:has-text('6 units to process')")
    assert "USD" in page.locator("#estimate").inner_text()
    press(page.get_by_role("button", name="Start run"))

    page.wait_for_url("**/p/desk/runs/*/")
    page.wait_for_selector("main progress")
    # The page sees by itself that it is done.
    page.wait_for_selector("h1 .badge:has-text('Done')")
    assert page.locator("#run-said").inner_text() == "Done. All units have scores."
    assert page.locator("[hx-get]").count() == 0
    assert (Run.objects.get().state, Score.objects.filter(version=version, status="ok").count()) == ("done", 6)
    assert len(openai_server.requests) == 6

    press(page.get_by_role("button", name="Create report on Support"))
    page.wait_for_selector("main table.judge-rows")
    assert "claim-support" in page.locator("main").inner_text()
    page.goto("/p/desk/judges/")
    press(page.get_by_role("link", name="Support", exact=True))
    page.wait_for_url("**/p/desk/reports/support/judge/?judge=claim-support&measures=support")


if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.usefixtures("worker")
def test_edit_try_look_keep(new_page: Callable[..., Page]) -> None:
    project, judge = make_world("desk")
    alma = User.objects.create(username="alma", password=_hashed("alma-long-password"))
    set_member(project=project, user=alma, role="admin")
    page = new_page(alma)
    page.goto(f"/p/desk/judges/{judge.pk}/")
    page.get_by_role("link", name="Lab", exact=True).click()
    estimate = page.locator("#estimate")
    estimate.get_by_text("Change something").wait_for()
    scripts = page.get_by_label("Languages written without spaces")
    if not scripts.is_visible():
        page.get_by_text("More options").click()
    scripts.select_option("characters")
    page.get_by_label("Number of samples").fill("6")
    estimate.get_by_text("6 samples of the dev set").wait_for()
    page.get_by_role("button", name="Start trial").press("Enter")
    # The page asks again by itself until both runs have ended.
    page.get_by_role("heading", name="Does it agree better with annotators?").wait_for()
    page.get_by_text("decide all 18 units alike").wait_for()
    page.get_by_role("img", name="Kappa of both versions, and their difference").wait_for()
    page.get_by_text("Changes in the judge").click()
    page.locator(".lab-changes").get_by_text("single characters").wait_for()
    page.get_by_role("button", name="Activate").press("Enter")
    page.get_by_text("Version 2 is now active").wait_for()
    assert JudgeVersion.objects.get(judge=judge, number=2).state == VersionState.KEPT
    page.get_by_role("link", name="Run on the rest").wait_for()
