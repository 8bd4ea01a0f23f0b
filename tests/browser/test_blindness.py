"""Reading every reply that an annotator's browser gets: nothing in it was said by another annotator."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Task
from annotate.tasks.label_changes import LabelInput
from annotate.tasks.labelling import save_label, submit_task
from tests.browser.conftest import Desk, wait_for_next_task
from tests.judges.building import add_judge

if TYPE_CHECKING:
    from playwright.sync_api import Page, Response

    from tests.processes import LiveApp

BENS_WORDS = "ben-said-so-in-secret"
JUDGES_WORDS = "the-judge-whispers"
JUDGES_NUMBER = 0.123456789


def test_no_reply_holds_what_others_said(desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    _ben_labels_everything(desk)
    _a_judge_scores_everything(desk)
    replies: list[str] = []

    def keep(response: Response) -> None:
        if response.request.resource_type in ("document", "fetch", "xhr"):
            replies.append(f"{response.url} {response.headers} {'' if response.status == 302 else response.text()}")

    page = new_page(desk.ana)
    page.on("response", keep)
    page.goto(live_app.url)
    page.goto(f"{live_app.url}/p/desk/")
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector("#work:not([hidden])")
    for _ in range(Task.objects.filter(annotator=desk.ana).count()):
        task = page.evaluate("document.documentElement.dataset.taskId")
        for key in ("1", "1", "Enter"):
            page.keyboard.press(key)
        wait_for_next_task(page, task)
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    page.wait_for_selector('#save-state[data-state="saved"]')

    assert Task.objects.filter(annotator=desk.ana, status="submitted").count() == 3
    assert sum("/submit/" in reply for reply in replies) == 3
    for reply in replies:
        for secret in (BENS_WORDS, JUDGES_WORDS, str(JUDGES_NUMBER)):
            assert secret not in reply


def _ben_labels_everything(desk: Desk) -> None:
    for task in Task.objects.filter(annotator=desk.ben):
        for unit in ("claim:0", "claim:1"):
            said = LabelInput(unit=unit, criterion="support", value="contradicted", comment=BENS_WORDS)
            save_label(actor=desk.ben, task_id=task.pk, said=said, expected_revision=0, idempotency_key=uuid.uuid4())
        submit_task(actor=desk.ben, task_id=task.pk)


def _a_judge_scores_everything(desk: Desk) -> None:
    samples = {sample.external_id: sample for sample in desk.project.samples.all()}
    rows = [(name, unit, JUDGES_NUMBER) for name in samples for unit in ("claim:0", "claim:1")]
    add_judge(desk.project, "whisperer", samples, rows, rationale=JUDGES_WORDS)
