"""A judge by keyboard alone: made, run by the real worker against a real server, watched, and held against people."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.tasks.labelling import submit_task
from judges.models import Endpoint, Judge, Run, Score
from tests.annotate.factories import say
from tests.browser.conftest import Desk

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
    assert "Run it to give it scores" in page.locator("[role=status]").first.inner_text()
    version = Judge.objects.get(name="claim-support").versions.get()
    assert version.config["prompt"].endswith("{{criterion}}")
    press(page.get_by_role("link", name="Run …"))
    page.wait_for_selector("#estimate:has-text('6 units to ask about')")
    assert "USD" in page.locator("#estimate").inner_text()
    press(page.get_by_role("button", name="Start the run"))

    page.wait_for_url("**/p/desk/runs/*/")
    page.wait_for_selector("main progress")
    # The page sees by itself that it is done.
    page.wait_for_selector("h1 .badge:has-text('Done')")
    assert page.locator("#run-said").inner_text() == "Done: every unit has its score."
    assert page.locator("[hx-get]").count() == 0
    assert (Run.objects.get().state, Score.objects.filter(version=version, status="ok").count()) == ("done", 6)
    assert len(openai_server.requests) == 6

    press(page.get_by_role("button", name="Make the report on Support"))
    page.wait_for_selector("main svg[role=img]")
    assert "claim-support" in page.locator("main").inner_text()
    page.goto("/p/desk/judges/")
    press(page.get_by_role("link", name="Support", exact=True))
    page.wait_for_url("**/p/desk/reports/support/judge/?judge=claim-support&measures=support")
