"""What every page must be, whatever is on it: no violation that axe finds, in light and dark, and nothing that scrolls
sideways where the window is narrow or the text large."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python

if TYPE_CHECKING:
    from playwright.sync_api import Page

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_CONTRAST = "color-contrast"
# What depends on where things stand; the others have been asked already.
_BY_WIDTH = ["target-size", "scrollable-region-focusable"]

_WIDE = {"width": 1280, "height": 800}
# 320 px is WCAG's narrowest (1.4.10); 640 px is a window of 1280 at 200 %.
_NARROW = ({"width": 320, "height": 800}, {"width": 640, "height": 800})

# The elements that stick out, unless something that scrolls by itself holds them.
_STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth <= width) return [];
  const scrolls = (element) => element && element !== document.documentElement
    && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  return [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > width + 0.5 && !scrolls(element.parentElement))
    .map((element) => element.outerHTML.slice(0, 120));
}"""

# Of what takes the focus by Tab: whether one sees it, by an outline, a shadow or a border that it hadn't before.
_FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const outlined = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const look = (style) => [outlined(style) ? style.outlineColor : "", style.boxShadow, style.borderColor,
    style.backgroundColor].join("|");
  const seen = look(getComputedStyle(at));
  const box = at.getBoundingClientRect();
  at.blur();
  const unseen = look(getComputedStyle(at));
  at.focus();
  const onScreen = box.bottom > 0 && box.top < innerHeight;
  return { html: at.outerHTML.slice(0, 120), visible: seen !== unseen, on_screen: onScreen };
}"""


def problems(page: Page, where: str) -> list[str]:
    """All that is wrong with the page as it stands. It is left as it was found: light, and 1280 px wide."""
    found = [f"{where}: {problem}" for problem in _violations(page, {"type": "tag", "values": _TAGS})]
    page.emulate_media(color_scheme="dark")
    dark = {"type": "rule", "values": [_CONTRAST]}
    found += [f"{where}, dark: {problem}" for problem in _violations(page, dark)]
    page.emulate_media(color_scheme="light")
    for size in _NARROW:
        page.set_viewport_size(size)  # type: ignore[arg-type]
        found += [f"{where}, {size['width']} px wide: sticks out: {html}" for html in sticking_out(page)]
    page.set_viewport_size(_NARROW[0])  # type: ignore[arg-type]
    narrow = {"type": "rule", "values": _BY_WIDTH}
    found += [f"{where}, 320 px wide: {problem}" for problem in _violations(page, narrow)]
    page.set_viewport_size(_WIDE)  # type: ignore[arg-type]
    return found


def sticking_out(page: Page) -> list[str]:
    """What makes the page scroll sideways."""
    return list(page.evaluate(_STICKING_OUT))


def unseen_focus(page: Page, stops: int = 25) -> list[str]:
    """Goes through the page by Tab; what took the focus without a sign of it, or out of sight."""
    found = []
    for _ in range(stops):
        page.keyboard.press("Tab")
        stop = page.evaluate(_FOCUS)
        if stop is None:
            break
        if not stop["visible"] or not stop["on_screen"]:
            found.append(stop["html"])
    return found


def _violations(page: Page, run_only: dict[str, Any]) -> list[str]:
    # Evaluated by the debugger, which the page's security policy doesn't bind.
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_AXE)
    options = {"runOnly": run_only, "resultTypes": ["violations"], "iframes": False}
    result = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']} ({violation['help']}): {node['html'][:160]}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
