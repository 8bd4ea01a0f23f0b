"""Fields of judges' forms are in sight only when they apply; without a script, and with an error, always."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.models import Project, User
from judges.models import Judge

if TYPE_CHECKING:
    from playwright.sync_api import Page

NEW = "/p/help/judges/new/lexical-token-overlap/"


def test_a_measure_of_ones_own_is_named_once_there_is_no_criterion(
    alice: User, project: Project, new_page: Callable[..., Page]
) -> None:
    from playwright.sync_api import expect

    page = new_page(alice)
    page.goto(NEW)
    criterion, measure = page.get_by_label("Criterion"), page.get_by_label("Name of the measure")
    expect(measure).to_be_hidden()
    criterion.focus()
    page.keyboard.press("End")
    expect(measure).to_be_visible()
    page.keyboard.press("Tab")
    expect(measure).to_be_focused()
    # It is needed now, so it isn't called optional, and the browser asks for it.
    assert measure.evaluate("field => field.required && field.closest('.field').querySelector('.required').hidden")
    page.keyboard.type("shared")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/help/judges/*/")
    assert Judge.objects.get().versions.get().config["dimension"] == "shared"


def test_what_is_out_of_sight_is_not_sent(alice: User, project: Project, new_page: Callable[..., Page]) -> None:
    page = new_page(alice)
    page.goto("/p/help/judges/endpoints/new/")
    page.get_by_label("Name", exact=True).fill("house")
    page.get_by_label("Base URL").fill("https://models.example/v1")
    kinds = page.get_by_role("radio").evaluate_all("all => all.map(one => one.value)")
    page.get_by_role("radio").nth(kinds.index("stored")).check()
    page.get_by_label("API key").fill("a-long-secret")
    page.get_by_role("radio").nth(kinds.index("none")).check()
    assert not page.get_by_label("API key").is_visible()
    sent = page.evaluate("[...new FormData(document.querySelector('main form'))].map(([name]) => name)")
    assert "key" not in sent
    assert "key_variable" not in sent


def test_an_error_is_never_hidden(alice: User, project: Project, new_page: Callable[..., Page]) -> None:
    """The page with the error is loaded with the script, the form that brought it was sent without."""
    from playwright.sync_api import expect

    page = new_page(alice)
    page.goto(NEW)
    page.evaluate(
        """() => { const form = document.querySelector('main form');
        const field = form.elements.namedItem('config-dimension');
        field.disabled = false; field.value = 'x'.repeat(200); form.noValidate = true; form.submit(); }"""
    )
    expect(page.locator(".errorlist")).to_be_visible()
    assert page.get_by_label("Criterion").input_value() == "support"
    expect(page.get_by_label("Name of the measure")).to_be_visible()


def test_without_a_script_all_fields_are_there(alice: User, project: Project, new_page: Callable[..., Page]) -> None:
    page = new_page(alice, java_script_enabled=False)
    page.goto(NEW)
    assert page.get_by_label("Name of the measure").is_visible()
    assert page.get_by_label("Applies to").is_visible()
