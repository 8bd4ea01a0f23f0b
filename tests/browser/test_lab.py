"""A judge is changed in the lab, tried with a real worker, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotate.models import User
from annotate.projects.write import set_member
from judges.models import JudgeVersion, VersionState
from tests.browser.conftest import _hashed
from tests.judges.lab.test_trials import make_world

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
    scripts = page.get_by_label("Scripts without blanks")
    if not scripts.is_visible():
        page.get_by_text("More options").click()
    scripts.select_option("characters")
    page.get_by_label("How many samples").fill("6")
    estimate.get_by_text("6 samples of the dev half").wait_for()
    page.get_by_role("button", name="Try it").press("Enter")
    # The page asks again by itself until both runs have ended.
    page.get_by_role("heading", name="Does it agree with people more?").wait_for()
    page.get_by_text("decide all 18 units alike").wait_for()
    page.get_by_role("img", name="Kappa of both versions, and their difference").wait_for()
    page.get_by_text("What was changed in the judge").click()
    page.locator(".lab-changes").get_by_text("single characters").wait_for()
    page.get_by_role("button", name="Keep").press("Enter")
    page.get_by_text("Version 2 is in use now").wait_for()
    assert JudgeVersion.objects.get(judge=judge, number=2).state == VersionState.KEPT
    page.get_by_role("link", name="Run it on the rest").wait_for()
