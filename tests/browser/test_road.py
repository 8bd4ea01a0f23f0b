"""The whole road in a real browser, from an empty installation: an admin, two annotators and a reviewer, from a file to
a certified judge and the ground truth. Nothing but the first account is made any other way."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import global_settings
from django.test import override_settings

from annotate.models import Label, Project, Task, User, Verdict
from judges.models import AlignmentReport, Certificate, Score
from tests.browser.conftest import wait_for_next_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

SAMPLES = 72
WRONG = 3
# Of the wrong answers Ben takes these for right.
MISSED = {9, 30, 60}


def _sample(n: int) -> dict[str, object]:
    """Every third answer names another hour than the context."""
    said, true = ("ten" if n % WRONG == 0 else "nine"), "nine"
    return {
        "user_input_id": f"branch-{n:02}",
        "question": f"When does branch {n} open? 😀",
        "response": f"Branch {n} opens at {said}.",
        "retrieved_contexts": [f"Branch {n} opens at {true}.", "营业时间：九点"],
    }


@pytest.mark.usefixtures("worker")
def test_from_an_empty_installation_to_a_certificate(
    live_app: LiveApp, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    with override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS):
        alma = User.objects.create_user("alma", password="alma-long-password", is_staff=True)
    admin = new_page()
    _log_in(admin, live_app.url)
    _create_project(admin)
    _create_a_criterion(admin)
    project = Project.objects.get(slug="branches")
    _import(admin, _write(tmp_path / "samples.jsonl", [_sample(n) for n in range(SAMPLES)]))
    assert project.samples.count() == SAMPLES
    ana, ben, remy = (
        _join(new_page(), _invite(admin, role), name)
        for name, role in (("ana", "annotator"), ("ben", "annotator"), ("remy", "reviewer"))
    )
    _open_a_batch(admin)
    assert Task.objects.count() == 2 * SAMPLES

    _label_everything(ana, missed=set())
    _label_everything(ben, missed=MISSED)
    assert Label.objects.count() == 2 * SAMPLES
    assert Verdict.objects.filter(state="settled", method="unanimous").count() == SAMPLES - len(MISSED)
    assert Verdict.objects.filter(state="disputed").count() == len(MISSED)
    _adjudicate_everything(remy)
    decided = Verdict.objects.filter(method="adjudicated")
    assert {(v.value, v.decided_by and v.decided_by.username, v.reason) for v in decided} == {
        ("wrong", "remy", "The context says nine.")
    }
    assert decided.count() == len(MISSED)

    _create_and_run_a_judge(admin)
    assert Score.objects.filter(status="ok").count() == SAMPLES
    _see_the_report(admin)
    _certify(admin)
    certificate = Certificate.objects.get()
    assert (certificate.created_by, certificate.look.result["decision"]["verdict"]) == (alma, "with_a_person")
    rows = _export(admin, tmp_path)
    assert len(rows) == SAMPLES
    assert sum(row["value"] == "wrong" for row in rows) == SAMPLES / WRONG
    assert project.memberships.get(user=alma).role == "admin"


def _write(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def _log_in(page: Page, url: str) -> None:
    page.goto(url)
    # The page puts the focus there, but not before it is drawn.
    page.wait_for_selector("[name=username]:focus")
    page.keyboard.type("alma")
    page.keyboard.press("Tab")
    page.keyboard.type("alma-long-password")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/")


def _create_project(page: Page) -> None:
    page.get_by_role("link", name="New project").first.click()
    form = page.locator("form:has([name=name])")
    form.locator("[name=name]").fill("Branches")
    form.locator("[name=slug]").fill("branches")
    form.locator("button[type=submit]").click()
    page.wait_for_url("**/p/branches/**")


def _create_a_criterion(page: Page) -> None:
    page.goto("/p/branches/criteria/new/")
    page.locator("[name=key]").fill("hours")
    page.locator("[name=prompt]").fill("Does the claim give the hour that the contexts give?")
    for place, (value, label) in enumerate((("right", "Right"), ("wrong", "Wrong"))):
        page.locator(f"[name=option-{place}-value]").fill(value)
        page.locator(f"[name=option-{place}-label]").fill(label)
    page.locator("[name=option-0-passes]").check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/p/branches/criteria/**")
    page.get_by_text("Does the claim give the hour").first.wait_for()


def _import(page: Page, path: Path) -> None:
    page.goto("/p/branches/import/")
    page.locator("[name=kind][value=samples]").check()
    page.locator("[name=file]").set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_selector("dt:has-text('Rows read')")


def _invite(page: Page, role: str) -> str:
    page.goto("/p/branches/members/")
    page.locator("[name=invite-role]").select_option(role)
    page.locator("form[action$='/members/invite/'] button").click()
    page.wait_for_selector("#invite-link:focus")
    return page.input_value("#invite-link")


def _join(page: Page, link: str, name: str) -> Page:
    page.goto(link)
    page.locator("[name=username]").fill(name)
    for field in ("password1", "password2"):
        page.locator(f"[name={field}]").fill("blue lamp 77 river")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/branches/")
    return page


def _open_a_batch(page: Page) -> None:
    page.goto("/p/branches/batches/new/")
    page.locator("[name=name]").fill("First")
    for name in ("ana", "ben"):
        page.get_by_label(name, exact=False).first.check()
    page.locator("[name=overlap]").fill("2")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open").first.click()
    page.wait_for_selector(".badge:has-text('Open')")


def _label_everything(page: Page, missed: set[int]) -> None:
    """By keyboard only, from the first page on: read, one key per decision and one to submit."""
    page.goto("/")
    page.get_by_role("link", name="labelling").first.focus()
    page.keyboard.press("Enter")
    # The first time it begins with a practice sample.
    page.wait_for_selector('html[data-task-id="-1"]')
    page.keyboard.press("Escape")
    page.wait_for_selector('html[data-stage="task"]:not([data-task-id="-1"])')
    for _ in range(SAMPLES):
        task = page.evaluate("document.documentElement.dataset.taskId")
        text = page.inner_text("#work")
        is_wrong = "opens at ten." in text and not any(f"Branch {n} opens" in text for n in missed)
        for key in ("2" if is_wrong else "1", "Enter"):
            page.keyboard.press(key)
        wait_for_next_task(page, task)
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    page.wait_for_selector('#save-state[data-state="saved"]')


def _adjudicate_everything(page: Page) -> None:
    page.goto("/p/branches/adjudicate/")
    page.get_by_role("link", name="Start adjudicating").focus()
    page.keyboard.press("Enter")
    for left in range(len(MISSED), 0, -1):
        # Shown by the script, so the keys are bound.
        page.wait_for_selector("[data-help]:not([hidden])")
        assert Verdict.objects.filter(state="disputed").count() == left
        address = page.url
        page.keyboard.press("2")
        page.keyboard.type("The context says nine.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("url => location.href !== url", arg=address)


def _create_and_run_a_judge(page: Page) -> None:
    page.goto("/p/branches/judges/")
    page.get_by_role("link", name="New judge").click()
    page.get_by_role("link", name="Token overlap").click()
    page.get_by_label("Criterion").select_option("hours")
    page.get_by_role("button", name="Create judge").click()
    page.get_by_role("link", name="Run …").click()
    page.get_by_role("button", name="Start run").click()
    # The page sees by itself that the worker is done.
    page.wait_for_selector("h1 .badge:has-text('Done')")


def _see_the_report(page: Page) -> None:
    """A button asks the worker for it, and the page follows by itself."""
    page.goto("/p/branches/reports/hours/")
    page.get_by_role("button", name="Create it now").press("Enter")
    page.wait_for_selector("main table.judge-rows")
    assert AlignmentReport.objects.count() == 1
    assert "token-overlap" in page.locator("main").inner_text()
    page.locator("main summary", has_text="Who agrees with whom").press("Enter")
    assert "ana" in page.locator("main details[open]").inner_text()


def _certify(page: Page) -> None:
    page.locator("table.judge-rows").get_by_role("link", name="token-overlap").click()
    page.get_by_role("link", name="Evaluate on the test set…").click()
    page.get_by_role("button", name="Run test evaluation 1").click()
    page.get_by_role("button", name="Certify").click()
    page.get_by_text("Certificate 1").first.wait_for()
    # Some 36 test units are few: enough for this much, not for deciding alone.
    page.get_by_text("Together with a person").first.wait_for()


def _export(page: Page, folder: Path) -> list[dict[str, object]]:
    page.goto("/p/branches/export/")
    page.locator("[name=file_format][value=jsonl]").check()
    page.locator("form:has([name=file_format]) button[type=submit]").click()
    page.wait_for_load_state()
    with page.expect_download() as download:
        page.locator("a[href*='/export/1/']").first.click()
    path = folder / "release.jsonl"
    download.value.save_as(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
