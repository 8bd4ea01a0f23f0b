"""The whole road in a real browser: an admin, two annotators and a reviewer, from a file to ground truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import global_settings
from django.test import override_settings

from annotate.models import Label, Project, Task, User, Verdict
from judges.models import AlignmentReport
from tests.browser.conftest import wait_for_next_task

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp, Worker

SAMPLES = [
    {
        "question": f"When does branch {n} open? 😀",
        "response": f"Branch {n} opens at nine. It closes at five.",
        "retrieved_contexts": [f"Branch {n} is open from nine on.", "营业时间：九点"],
        "user_input_id": n,
    }
    for n in range(4)
]


def test_from_a_file_to_ground_truth(
    live_app: LiveApp, worker: Worker, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    with override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS):
        alma = User.objects.create_user("alma", password="alma-long-password", is_staff=True)
    ana, ben, remy = (User.objects.create_user(name) for name in ("ana", "ben", "remy"))

    admin = new_page()
    _log_in(admin, live_app.url)
    _create_project(admin)
    _add_members(admin, live_app.url)
    _import(admin, live_app.url, "samples", _write(tmp_path / "samples.jsonl", SAMPLES))
    project = Project.objects.get(slug="branches")
    assert project.samples.count() == 4
    _open_a_batch(admin, live_app.url)
    assert Task.objects.count() == 8

    # Two claims a sample: Ana and Ben agree on the first of each and differ on the second.
    _label_everything(new_page(ana), live_app.url, ["1", "1"])
    _label_everything(new_page(ben), live_app.url, ["1", "2"])
    assert Label.objects.count() == 16
    assert Verdict.objects.filter(state="settled", method="unanimous").count() == 4
    assert Verdict.objects.filter(state="disputed").count() == 4

    _adjudicate_everything(new_page(remy), live_app.url)
    decided = Verdict.objects.filter(method="adjudicated")
    assert {(v.value, v.decided_by, v.reason) for v in decided} == {("contradicted", remy, "No context says when.")}
    assert decided.count() == 4

    scores = [
        {"sample_id": sample.external_id, "unit": unit, "criterion": "support", "judge": "strict", "score": score}
        for sample in project.samples.all()
        for unit, score in (("claim:0", 0.9), ("claim:1", 0.1))
    ]
    _import(admin, live_app.url, "scores", _write(tmp_path / "scores.jsonl", scores))
    _see_the_report(admin, live_app.url, worker)
    rows = _export(admin, live_app.url, tmp_path)
    assert len(rows) == 8
    assert {row["value"] for row in rows} == {"supported", "contradicted"}
    assert alma.memberships.get().role == "admin"


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
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
    for box in form.locator("[name=criteria]").all():
        box.set_checked(box.get_attribute("value") == "support")
    form.locator("button[type=submit]").click()
    page.wait_for_url("**/p/branches/**")


def _add_members(page: Page, url: str) -> None:
    for name, role in (("ana", "annotator"), ("ben", "annotator"), ("remy", "reviewer")):
        page.goto(f"{url}/p/branches/members/")
        form = page.locator("form:has([name=username]):has([name=role])").first
        form.locator("[name=username]").fill(name)
        form.locator("[name=role]").select_option(role)
        form.locator("button[type=submit]").click()
        page.wait_for_selector(f"td:has-text('{name}'), th:has-text('{name}')")


def _import(page: Page, url: str, kind: str, path: Path) -> None:
    page.goto(f"{url}/p/branches/import/")
    page.locator(f"[name=kind][value={kind}]").check()
    page.locator("[name=file]").set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_selector("dt:has-text('Rows read')")


def _open_a_batch(page: Page, url: str) -> None:
    page.goto(f"{url}/p/branches/batches/new/")
    page.locator("[name=name]").fill("First")
    for name in ("ana", "ben"):
        page.get_by_label(name, exact=False).first.check()
    page.locator("[name=overlap]").fill("2")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open").first.click()
    page.wait_for_selector(".badge:has-text('Open')")


def _label_everything(page: Page, url: str, keys: list[str]) -> None:
    """By keyboard only, from the first page on: one key per decision and one to submit."""
    page.goto(url)
    page.get_by_role("link", name="labelling").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#work:not([hidden])")
    for _ in SAMPLES:
        task = page.evaluate("document.documentElement.dataset.taskId")
        for key in [*keys, "Enter"]:
            page.keyboard.press(key)
        wait_for_next_task(page, task)
    page.wait_for_selector('[data-stage-box="done"]:not([hidden])')
    page.wait_for_selector('#save-state[data-state="saved"]')


def _adjudicate_everything(page: Page, url: str) -> None:
    page.goto(f"{url}/p/branches/adjudicate/")
    page.get_by_role("link", name="Start adjudicating").focus()
    page.keyboard.press("Enter")
    for left in range(len(SAMPLES), 0, -1):
        # Shown by the script, so the keys are bound.
        page.wait_for_selector("[data-help]:not([hidden])")
        assert Verdict.objects.filter(state="disputed").count() == left
        address = page.url
        page.keyboard.press("2")
        page.keyboard.type("No context says when.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("url => location.href !== url", arg=address)


def _see_the_report(page: Page, url: str, worker: Worker) -> None:
    """A button asks the worker for it, and the page follows by itself."""
    page.goto(f"{url}/p/branches/reports/support/")
    page.get_by_role("button", name="Create it now").press("Enter")
    page.wait_for_selector("main table.judge-rows")
    assert AlignmentReport.objects.count() == 1
    assert "strict" in page.locator("main").inner_text()
    page.locator("main summary", has_text="Who agrees with whom").press("Enter")
    assert "ana" in page.locator("main details[open]").inner_text()


def _export(page: Page, url: str, folder: Path) -> list[dict[str, object]]:
    page.goto(f"{url}/p/branches/export/")
    page.locator("[name=file_format][value=jsonl]").check()
    page.locator("form:has([name=file_format]) button[type=submit]").click()
    page.wait_for_load_state()
    with page.expect_download() as download:
        page.locator("a[href*='/export/1/']").first.click()
    path = folder / "release.jsonl"
    download.value.save_as(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
