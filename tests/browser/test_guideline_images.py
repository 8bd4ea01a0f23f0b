"""Images come into guidelines by file, paste and drop, and open in full where guidelines are read."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from playwright.sync_api import expect

from annotate.models import GuidelineImage, GuidelineVersion
from annotate.projects.guideline_images import add_image
from annotate.projects.guidelines import change_guidelines
from tests.browser.accessibility import bring_axe, problems
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.processes import LiveApp

# Gives the text a file as a browser does, by the event of this name.
GIVE = """([name, bytes, type]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], "image.png", { type }));
  const text = document.getElementById("id_text");
  const made = name === "paste"
    ? new ClipboardEvent(name, { clipboardData: data, bubbles: true, cancelable: true })
    : new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
  text.dispatchEvent(made);
}"""


def png(color: str = "red", size: tuple[int, int] = (1200, 900)) -> bytes:
    content = BytesIO()
    Image.new("RGB", size, color).save(content, "PNG")
    return content.getvalue()


def test_a_reviewer_inserts_an_image_by_keyboard_and_sees_it(
    desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    page = new_page(desk.remy)
    bring_axe(page.context)
    page.goto(f"{live_app.url}/p/desk/guidelines/edit/")
    text, dialog = page.locator("#id_text"), page.locator("#image-dialog")
    text.fill("Before after")
    for _ in range(len(" after")):
        text.press("ArrowLeft")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Insert image…").press("Enter")
    chooser.value.set_files({"name": "box.png", "mimeType": "image/png", "buffer": png()})
    expect(dialog).to_contain_text("box.png")
    expect(page.get_by_label("What does the image show?")).to_be_focused()
    # An image without words for it does not come in.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Say what the image shows.")
    assert not problems(page, "an image without words")
    page.keyboard.type("A [red] box")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    image = GuidelineImage.objects.get()
    expect(text).to_have_value(f"Before![A \\[red\\] box](image:{image.name}) after")
    shown = page.locator(".prose img")
    expect(shown).to_have_attribute("alt", "A [red] box")
    page.wait_for_function("() => document.querySelector('.prose img').naturalWidth === 1200")
    # It can be undone like anything typed.
    expect(text).to_be_focused()
    page.keyboard.press("Control+z")
    expect(text).to_have_value("Before after")
    page.keyboard.press("Control+Shift+z")
    page.get_by_role("button", name="Save as new version").press("Enter")
    expect(page.locator(".messages")).to_contain_text("Version 2 of the guidelines saved.")
    assert f"image:{image.name}" in GuidelineVersion.objects.get(number=2).text


@pytest.mark.parametrize("way", ["paste", "drop"])
def test_an_image_is_pasted_or_dropped(way: str, desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]) -> None:
    page = new_page(desk.alma)
    page.goto(f"{live_app.url}/p/desk/guidelines/edit/")
    dialog = page.locator("#image-dialog")
    page.evaluate(GIVE, [way, list(b"<svg onload=alert(1)>"), "image/png"])
    page.keyboard.type("Nothing")
    page.get_by_role("button", name="Insert", exact=True).click()
    expect(dialog).to_contain_text("This file isn’t an image that can be used.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#id_text")).to_have_value("")
    # In front of a heading, which stays one.
    page.locator("#id_text").fill("# Rules")
    page.locator("#id_text").press("Home")
    page.evaluate(GIVE, [way, list(png(size=(20, 10))), "image/png"])
    page.keyboard.type("A red box")
    page.get_by_role("button", name="Insert", exact=True).click()
    expect(dialog).to_be_hidden()
    name = GuidelineImage.objects.get().name
    expect(page.locator("#id_text")).to_have_value(f"![A red box](image:{name})\n\n# Rules")


@pytest.mark.parametrize("width", [1280, 390])
def test_an_annotator_opens_an_image_in_full_without_leaving_the_sample(
    width: int, desk: Desk, live_app: LiveApp, new_page: Callable[..., Page]
) -> None:
    content = png()
    image = add_image(actor=desk.alma, project=desk.project, file=BytesIO(content), name="a.png", size=len(content))
    change_guidelines(actor=desk.alma, project=desk.project, text=f"![A red box](image:{image.name})", note="A box.")
    page = new_page(desk.ana)
    bring_axe(page.context)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{live_app.url}/p/desk/label/")
    page.wait_for_selector('html[data-stage="task"]')
    page.keyboard.press("g")
    small = page.locator("#guidelines-panel .prose img")
    page.wait_for_function("() => document.querySelector('#guidelines-panel img').naturalWidth === 1200")
    assert small.bounding_box()["width"] < 420  # type: ignore[index]
    page.keyboard.press("Tab")
    expect(page.locator("#guidelines-panel a.zoom")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="A red box")
    expect(dialog).to_be_visible()
    full = dialog.locator("img").bounding_box()
    assert full
    assert full["width"] == 1200
    assert not problems(page, "an image in full")
    # Keys of the page mean nothing now; Escape closes the image and not the panel.
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("#guidelines-panel a.zoom")).to_be_focused()
    expect(page.locator('[data-key="1"][aria-checked="true"]')).to_have_count(0)
    small.click()
    page.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)
    assert page.url == f"{live_app.url}/p/desk/label/"
