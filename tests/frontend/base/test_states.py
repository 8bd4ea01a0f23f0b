"""What is under the pointer, what has the focus and what is selected look different, in light and dark; what is
selected also without colours."""

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

STATIC = ROOT / "frontend/base/static/base"
# Each thing that can be selected: one that is, and one that isn't.
THINGS = {
    "tab": '<nav class="tabs"><a href="#a" {}>Report</a></nav>',
    "navigation": '<ul class="site-nav-list menu"><li><a href="#a" {}>Samples</a></li></ul>',
    "switcher": '<nav class="switcher"><a href="#a" {}>judge</a></nav>',
    "option": '<button class="option" role="radio" {}><kbd>1</kbd><span class="option-label">Yes</span></button>',
    "step": '<button class="step" {}><span class="step-unit">Claim 1</span></button>',
    "language": '<div class="languages"><button {}>English</button></div>',
}
SELECTED = {"option": 'aria-checked="true"', "language": 'aria-pressed="true"'}
# Only pressed, never selected.
PRESSED = {
    "button": '<button class="button">Save</button>',
    "quiet": '<button class="button button-quiet">Skip</button>',
    "primary": '<button class="button button-primary">Save</button>',
    "danger": '<button class="button button-danger">Delete</button>',
    "menu": '<div class="menu"><a href="#a">Log out</a></div>',
    "chip": '<a class="badge badge-warn" href="#a">Disputed</a>',
}
LOOK = """element => {
  const style = getComputedStyle(element);
  const bar = style.boxShadow === "none" ? "" : style.boxShadow.replace(/(rgb|color|oklab)[^)]*\\)/g, "");
  return {
    ground: style.backgroundColor + style.backgroundImage, line: style.borderColor, text: style.textDecorationLine,
    weight: style.fontWeight, bar, width: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    ring: style.outlineColor, filled: style.color,
  };
}"""
# How bright a colour is that CSS computes, as WCAG reckons it: the browser draws it.
CONTRAST = """([one, other]) => {
  const light = colour => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255)
      .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: "Browser") -> Any:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


def _show(page: "Page", thing: str) -> None:
    sheets = "".join((STATIC / f"{name}.css").read_text() for name in ("scales", "base", "workspace"))
    style = re.sub(r"@import [^;]*;", "", sheets)
    page.set_content(f"<!doctype html><style>{style}</style><p>Apart</p>{thing}")


def _look(page: "Page", thing: str, state: str = "") -> dict[str, Any]:
    _show(page, thing)
    element = page.locator("a, button")
    page.mouse.move(1270, 790)
    if state == "hover":
        element.hover()
    if state == "focus":
        page.keyboard.press("Tab")
        assert element.evaluate("element => element.matches(':focus-visible')")
    look: dict[str, Any] = element.evaluate(LOOK)
    return look


@pytest.mark.parametrize("name", [*THINGS, *PRESSED])
def test_hover_focus_and_selected_look_different(page: "Page", name: str) -> None:
    thing = {**THINGS, **PRESSED}[name]
    looks = {state: _look(page, thing.format(""), state) for state in ("", "hover", "focus")}
    if name in THINGS:
        looks["selected"] = _look(page, thing.format(SELECTED.get(name, 'aria-current="page"')))
    assert len({str(sorted(look.items())) for look in looks.values()}) == len(looks), looks
    # The ring is the focus's alone.
    assert {state for state, look in looks.items() if look["width"] >= 2} == {"focus"}
    if name in THINGS:
        without_colour = [(look["weight"], look["bar"]) for look in (looks["selected"], looks["hover"], looks[""])]
        assert without_colour[0] not in without_colour[1:]


def test_the_ring_is_seen_on_every_ground(page: "Page") -> None:
    ring = _look(page, PRESSED["button"], "focus")["ring"]
    grounds = page.evaluate(
        """names => names.map(name => {
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.backgroundColor = `var(${name})`;
          return getComputedStyle(probe).backgroundColor;
        })""",
        ["--paper", "--surface", "--sunk", "--accent-soft"],
    )
    for ground in grounds:
        assert page.evaluate(CONTRAST, [ring, ground]) >= 3, ground
