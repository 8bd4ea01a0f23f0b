"""What every page must be, whatever is on it: no violation that axe finds, in light and dark, and nothing that scrolls
sideways where the window is narrow or the text large."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

_AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_ALL = {"type": "tag", "values": _TAGS}
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


# Colours that are on their way from one to another are none that stay.
_STILL = """() => {
  for (const each of document.getAnimations()) if (each.effect.getTiming().iterations !== Infinity) each.finish();
}"""
# Every text of a page with what lies behind it, as it is painted: the colours of all that holds it, one over the other.
# axe does so too, but takes seconds for a long table, and leaves out what is drawn (SVG), what is typed, what stands in
# an empty field, and every text on a gradient.
_CONTRAST = """() => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], below) => below.map((part, at) => [r, g, b][at] * a + part * (1 - a));
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const canvas = rgba("Canvas").slice(0, 3);
  const painted = new Map();
  // What may lie behind what is in the element: one colour, or each of a gradient's.
  const behind = (element) => {
    if (!element) return [canvas];
    if (!painted.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const below = behind(element.parentElement);
      const plain = below.map((ground) => over(rgba(backgroundColor), ground));
      const stops = backgroundImage.match(/(?:rgba?|hsla?|oklch|oklab|lab|lch|color)\\([^()]*\\)/g) || [];
      const layers = plain.flatMap((ground) => [ground, ...stops.map((stop) => over(rgba(stop), ground))]);
      // What is half transparent lets what is below through, its ground as well as its text.
      const blends = (share) => layers.flatMap((ground) => below.map((other) => over([...ground, share], other)));
      const all = Number(opacity) === 1 ? layers : blends(Number(opacity));
      painted.set(element, [...new Map(all.map((ground) => [ground.join(), ground])).values()]);
    }
    return painted.get(element);
  };
  const seen = (element) => {
    let share = 1;
    for (let one = element; one; one = one.parentElement) share *= Number(getComputedStyle(one).opacity);
    return share;
  };
  const found = [];
  const compare = (element, text, style, ink, grounds = behind(element)) => {
    if (!text.trim()) return;
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const [r, g, b, a] = rgba(ink);
    const ink_over = (ground) => over([r, g, b, a * seen(element)], ground);
    const worst = Math.min(...grounds.map((ground) => ratio(ink_over(ground), ground)));
    if (worst >= least - 0.005) return;
    found.push(`${worst.toFixed(2)} < ${least}: “${text.trim().slice(0, 40)}” in ${element.outerHTML.slice(0, 120)}`);
  };
  const skipped = (element) => !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    || element.closest("[disabled], [aria-disabled=true], option, script, style, noscript, title, desc, [hidden]")
    || element.getClientRects().length === 0
    || Math.min(...[...element.getClientRects()].map((box) => Math.max(box.width, box.height))) <= 1;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || skipped(element)) continue;
    const style = getComputedStyle(element);
    compare(element, texts.currentNode.data, style, element instanceof SVGElement ? style.fill : style.color);
  }
  for (const field of document.querySelectorAll("input, textarea, select")) {
    if (["hidden", "checkbox", "radio", "range", "file"].includes(field.type) || skipped(field)) continue;
    const shown = field.value ? null : "::placeholder";
    const style = getComputedStyle(field, shown);
    if (field.value || field.placeholder) compare(field, field.value || field.placeholder, style, style.color);
  }
  for (const element of document.body.querySelectorAll("*")) {
    for (const place of ["::before", "::after"]) {
      const style = getComputedStyle(element, place);
      const has_words = /^"[^"]*\\w[^"]*"$/.test(style.content);
      if (!has_words || skipped(element)) continue;
      const own = behind(element).map((ground) => over(rgba(style.backgroundColor), ground));
      compare(element, style.content, style, style.color, own);
    }
  }
  return [...new Set(found)];
}"""


def bring_axe(context: BrowserContext) -> None:
    """To every page that the context will open; no page's security policy binds such a script."""
    context.add_init_script(f"{_AXE}; axe.configure({{ rules: [{{ id: 'color-contrast', enabled: false }}] }})")


def problems(page: Page, where: str, *, left: ViewportSize = WIDE) -> list[str]:
    """All that is wrong with the page as it stands, 1280 px wide. It is left light, and as wide as told. Its context
    was brought axe."""
    found = [f"{where}: {problem}" for problem in _violations(page, _ALL)]
    found += [f"{where}: contrast {text}" for text in low_contrast(page)]
    page.emulate_media(color_scheme="dark")
    found += [f"{where}, dark: contrast {text}" for text in low_contrast(page)]
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


def low_contrast(page: Page) -> list[str]:
    """The texts that differ too little from what lies behind them (WCAG 1.4.3), once for each colour it may have."""
    page.evaluate(_STILL)
    return list(page.evaluate(_CONTRAST))


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


def _violations(page: Page, rules: dict[str, Any]) -> list[str]:
    asked = {"runOnly": rules, "resultTypes": ["violations"], "iframes": False}
    run = "options => axe.run(document, options).then(({ violations }) => violations)"
    return [
        f"{violation['id']} ({violation['help']}): {node['html'][:160]}"
        for violation in page.evaluate(run, asked)
        for node in violation["nodes"]
    ]
