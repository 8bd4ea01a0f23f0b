"""The workspace after claims were edited: people are asked about those that are there, each under its own unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from annotate.batches.steps import close_batch
from annotate.models import Label, Task
from annotate.samples.claims_write import edit_claims
from tests.annotate.factories import make_batch
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_labels_go_to_the_claims_that_are_there(desk: Desk, new_page: Callable[..., Page]) -> None:
    from playwright.sync_api import expect

    close_batch(batch=desk.batch)
    sample = desk.project.samples.order_by("pk")[0]
    # "It opens at nine. It closes at five.": the first is cut in two, the second goes, a paraphrase comes.
    for revision, change in enumerate(
        [
            {"op": "split", "claim": 0, "at": 9},
            {"op": "drop", "claim": 1},
            {"op": "add", "text": "Nobody is there at six."},
            {"op": "add", "text": "closes at five"},
        ],
        1,
    ):
        edit_claims(
            actor=desk.remy, project=desk.project, sample_id=sample.pk, change=change, expected_revision=revision
        )
    batch = make_batch(desk.project, [desk.ana], name="Second", samples=[sample.external_id])

    page = new_page(desk.ana)
    page.goto(f"/p/desk/label/?batch={batch.number}")
    page.locator("html[data-task-id]").wait_for()
    expect(page.locator("#steps .step-unit")).to_have_text(["Claim 1", "Claim 2", "Claim 3", "Claim 4"])
    expect(page.locator("#answer mark")).to_have_text(["It opens", "at nine.", "closes at five"])
    expect(page.locator("#claims li")).to_have_text(["Nobody is there at six."])
    said = ["It opens", "at nine.", "closes at five", "Nobody is there at six."]
    for text, key in zip(said, "1231", strict=True):
        expect(page.locator("#unit-text")).to_have_text(text)
        page.keyboard.press(key)
    expect(page.locator("#complete")).to_have_text("All answered.")
    page.keyboard.press("Enter")
    page.locator("html[data-stage=done]").wait_for()
    labels = Label.objects.filter(task__batch=batch).order_by("unit")
    assert list(labels.values_list("unit", "value")) == [
        ("claim:2", "supported"),
        ("claim:3", "contradicted"),
        ("claim:4", "supported"),
        ("claim:5", "not in context"),
    ]
    assert Task.objects.get(batch=batch).status == "submitted"
