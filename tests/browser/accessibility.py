"""What every page must be, whatever is on it: no violation that axe finds, in light and dark, and nothing that scrolls
sideways where the window is narrow or the text large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_CONTRAST = "color-contrast"
# Asked of a whole page it compares every text with what lies behind it, thousands on a long table. What decides is the
# colours, the size and the backgrounds: one text of each look is compared, once in all the pages of a run.
_COMPARED = "[data-compared], [data-compared] *"
_seen: set[str] = set()
# The looks of the page that were not among those seen; a text of each is marked.
_MARK_ONE_TEXT_OF_EACH_NEW_LOOK = """(known) => {
  for (const earlier of document.querySelectorAll("[data-compared]")) delete earlier.dataset.compared;
  const seen = new Set(known);
  const fresh = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const behind = new Map();
  const backOf = (element) => {
    if (!element) return "";
    if (!behind.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter].join(" ");
      const bare = own === "rgba(0, 0, 0, 0) none 1 none";
      behind.set(element, backOf(element.parentElement) + (bare ? "" : `/${own}`));
    }
    return behind.get(element);
  };
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow, backOf(element)].join("|");
    if (seen.has(look)) continue;
    seen.add(look);
    fresh.push(look);
    element.dataset.compared = "";
  }
  return fresh;
}"""
_ALL = {"type": "tag", "values": _TAGS}
_COLOURS = {"type": "rule", "values": [_CONTRAST]}
# What depends on where things stand; the others have been asked already.
_BY_WIDTH = {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]}

WIDE: ViewportSize = {"width": 1280, "height": 800}
# WCAG's narrowest (1.4.10).
NARROW: ViewportSize = {"width": 320, "height": 800}
# A window of 1280 at 200 %.
LARGE_TEXT: ViewportSize = {"width": 640, "height": 800}

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


def bring_axe(context: BrowserContext) -> None:
    """To every page that the context will open; no page's security policy binds such a script."""
    rules = json.dumps([{"id": _CONTRAST, "selector": _COMPARED}])
    context.add_init_script(f"{_AXE}; axe.configure({{ rules: {rules} }})")


def problems(page: Page, where: str, *, left: ViewportSize = WIDE) -> list[str]:
    """All that is wrong with the page as it stands, 1280 px wide. It is left light, and as wide as told. Its context
    was brought axe."""
    _mark_new_looks(page)
    found = [f"{where}: {problem}" for problem in _violations(page, _ALL)]
    page.emulate_media(color_scheme="dark")
    if _mark_new_looks(page):
        found += [f"{where}, dark: {problem}" for problem in _violations(page, _COLOURS)]
    page.emulate_media(color_scheme="light")
    for size in (LARGE_TEXT, NARROW):
        page.set_viewport_size(size)
        found += [f"{where}, {size['width']} px wide: sticks out: {html}" for html in sticking_out(page)]
    found += [f"{where}, 320 px wide: {problem}" for problem in _violations(page, _BY_WIDTH)]
    if left != NARROW:
        page.set_viewport_size(left)
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


def _mark_new_looks(page: Page) -> bool:
    fresh = page.evaluate(_MARK_ONE_TEXT_OF_EACH_NEW_LOOK, list(_seen))
    _seen.update(fresh)
    return bool(fresh)


def _violations(page: Page, rules: dict[str, Any]) -> list[str]:
    asked = {"runOnly": rules, "resultTypes": ["violations"], "iframes": False}
    run = "options => axe.run(document, options).then(({ violations }) => violations)"
    return [
        f"{violation['id']} ({violation['help']}): {node['html'][:160]}"
        for violation in page.evaluate(run, asked)
        for node in violation["nodes"]
    ]
