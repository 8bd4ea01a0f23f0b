"""Keys, the voice of the page, and unasked dialogs: modules in a real browser without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

SHIFT = {"shiftKey": True}


# Layout, what the browser says was pressed, and what it means.
MEANT: list[tuple[str, dict[str, Any], list[str]]] = [
    ("English", {"key": "1", "code": "Digit1"}, ["1"]),
    ("English", {"key": "!", "code": "Digit1", **SHIFT}, ["!"]),
    ("English", {"key": "-", "code": "Minus"}, ["-"]),
    ("French", {"key": "&", "code": "Digit1"}, ["1", "&"]),
    ("French", {"key": "1", "code": "Digit1", **SHIFT}, ["1"]),
    # Its 6 is the "-", which is the key of the tenth point elsewhere; the tenth is the key after the 0.
    ("French", {"key": "-", "code": "Digit6"}, ["6", "-"]),
    ("French", {"key": ")", "code": "Minus"}, [")", "-"]),
    ("French", {"key": "z", "code": "KeyW"}, ["z"]),
    ("French", {"key": "[", "code": "Digit5", "modifierAltGraph": True}, ["["]),
    ("Czech", {"key": "ě", "code": "Digit2"}, ["2", "ě"]),
    ("Czech", {"key": "é", "code": "Digit0"}, ["0", "é"]),
    ("Russian", {"key": "я", "code": "KeyZ"}, ["я", "z"]),
    ("Russian", {"key": "Я", "code": "KeyZ", **SHIFT}, ["я"]),
    ("Greek", {"key": "ν", "code": "KeyN"}, ["ν", "n"]),
    ("any", {"key": "7", "code": "Numpad7"}, ["7"]),
    ("any", {"key": "Enter", "code": "Enter"}, ["Enter"]),
]


def test_what_a_key_means_on_several_layouts(modules: Page) -> None:
    script = """async (keys) => {
      const { meant } = await import("/base/keys.js");
      return keys.map((key) => meant(new KeyboardEvent("keydown", key)));
    }"""
    found = modules.evaluate(script, [pressed for _, pressed, _ in MEANT])
    for (layout, pressed, meanings), meant in zip(MEANT, found, strict=True):
        assert meant == meanings, f"{layout}: {pressed}"


def test_a_key_acts_once_and_control_means_letters_on_every_layout(modules: Page) -> None:
    """On a French keyboard: 6, not the tenth point. On a Russian one: Ctrl+я is Ctrl+Z."""
    done = modules.evaluate(
        """async () => {
          const { bindKeys } = await import("/base/keys.js");
          const done = [];
          bindKeys({
            option: (key) => (/[\\d-]/.test(key) ? () => done.push(`option ${key}`) : undefined),
            actions: {
              "ctrl+z": () => done.push("undo"), "ctrl+shift+z": () => done.push("redo"), n: () => done.push("next"),
            },
          });
          const bubbling = { bubbles: true, cancelable: true };
          const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { ...bubbling, ...key }));
          press({ key: "-", code: "Digit6" });
          press({ key: "é", code: "Digit2" });
          press({ key: ")", code: "Minus" });
          press({ key: "т", code: "KeyN" });
          press({ key: "я", code: "KeyZ", ctrlKey: true });
          press({ key: "Я", code: "KeyZ", ctrlKey: true, shiftKey: true });
          press({ key: "z", code: "KeyW", ctrlKey: true });
          press({ key: "w", code: "KeyZ", ctrlKey: true });
          return done;
        }"""
    )
    assert done == ["option 6", "option 2", "option -", "next", "undo", "redo", "undo"]


def test_what_is_said_for_one_key_is_said_together_and_again(modules: Page) -> None:
    said = modules.evaluate(
        """async () => {
          document.body.innerHTML = '<p id="announce" role="status"></p>';
          const { announce } = await import("/base/announce.js");
          const { sentence, shortened } = await import("/label/spoken.js");
          const region = document.getElementById("announce");
          const later = () => new Promise((resolve) => setTimeout(resolve));
          announce("Supported.");
          announce("");
          announce("Claim 2 of 5.");
          announce("Supported.");
          await later();
          const together = region.textContent;
          announce("Nothing to undo.");
          await later();
          const first = region.textContent;
          announce("Nothing to undo.");
          await later();
          const stop = (words) => `${words}.`;
          return { together, first, again: region.textContent,
            stopped: ["Supported", "Really?", "“Yes.”", "是的。", ""].map((text) => sentence(text, stop)),
            short: shortened("😀".repeat(1000)).length };
        }"""
    )
    assert said["together"] == "Supported. Claim 2 of 5."
    assert said["first"] == "Nothing to undo."
    assert said["again"] != said["first"], "or a screen reader says nothing"
    assert said["again"].strip() == "Nothing to undo."
    assert said["stopped"] == ["Supported.", "Really?", "“Yes.”", "是的。", ""]
    assert said["short"] == 2 * 240 + 1


TEXTS = {
    "sentence": "{words}.", "unit_says": "{unit}: {text}", "unit_claim_of": "Claim {n} of {of}",
    "no_choice": "No choice", "unit_context_of": "Context {n} of {of}", "next_task": "Next sample",
    "cant_tell_because": "Can’t tell: {reason}",
}  # fmt: skip


def test_a_choice_and_the_next_unit_are_said_shortly(modules: Page) -> None:
    said = modules.evaluate(
        """async (texts) => {
          const listed = Object.entries(texts).map(([name, text]) => `<i data-text="${name}">${text}</i>`).join("");
          document.body.innerHTML = `<template id="texts">${listed}</template>`;
          const { choiceAloud, stepAloud, taskAloud } = await import("/label/spoken.js");
          const options = [{ value: "yes", label: "Supported" }];
          const support = { name: "Support", prompt: "Do the contexts support this claim?", options };
          const relevance = { name: "Relevance", prompt: "How much does it help", options: [] };
          const task = { sample: { question: "When?", claims: [{ index: 4, text: "It opens at nine." }] } };
          const claim = { kind: "claim", index: 4, number: 2, of: 5, criterion: support };
          const context = { kind: "context", index: 0, number: 1, of: 3, criterion: relevance };
          return [
            choiceAloud(claim, { value: "yes" }),
            choiceAloud(claim, { value: null, cant_tell: "unclear" }),
            choiceAloud(claim, undefined),
            stepAloud(task, claim, undefined),
            stepAloud(task, claim, { value: "yes" }),
            stepAloud(task, context, undefined),
            taskAloud(task),
          ];
        }""",
        TEXTS,
    )
    asked = "Claim 2 of 5: It opens at nine. Do the contexts support this claim?"
    assert said == [
        "Supported.",
        "Can’t tell: unclear.",
        "No choice.",
        asked,
        f"{asked} Supported.",
        "Context 1 of 3. How much does it help.",
        "Next sample. When?",
    ]


UNASKED = """async () => {
  document.body.innerHTML = `
    <textarea id="words"></textarea>
    <dialog id="one"><h2 tabindex="-1" autofocus>One</h2><button id="keep">Keep mine</button></dialog>
    <dialog id="two"><h2 tabindex="-1" autofocus>Two</h2></dialog>
    <dialog id="asked"><button id="reason">Reason</button></dialog>`;
  const { guardUnasked, showUnasked } = await import("/label/unasked.js");
  const byId = (id) => document.getElementById(id);
  window.shown = [];
  const show = (id) => showUnasked(() => new Promise((resolve) => {
    shown.push(id);
    byId(id).addEventListener("close", resolve, { once: true });
    byId(id).showModal();
    guardUnasked(byId(id));
  }));
  byId("keep").addEventListener("click", () => byId("one").close("mine"));
  %s
}"""


def test_an_unasked_dialog_waits_for_free_hands(modules: Page) -> None:
    modules.evaluate(UNASKED % 'byId("words").focus(); show("one"); show("two");')
    modules.keyboard.type("a word")
    assert modules.evaluate("shown") == []
    assert modules.input_value("#words") == "a word"
    # From one's comment into a dialog that one asked for: still not free.
    modules.evaluate("document.getElementById('asked').showModal()")
    modules.wait_for_function("document.activeElement.id === 'reason'")
    assert modules.evaluate("shown") == []
    modules.keyboard.press("Escape")
    # It gives the focus back to the field.
    modules.evaluate("document.activeElement.blur()")
    modules.wait_for_selector("#one[open]")
    assert modules.evaluate("shown") == ["one"], "one at a time"


def test_keys_in_flight_do_not_decide_in_it(stopped: Page) -> None:
    stopped.evaluate(UNASKED % 'show("one");')
    stopped.wait_for_selector("#one[open]")
    assert stopped.evaluate("document.activeElement.tagName") == "H2"
    for key in ("Enter", "1", " ", "Escape"):
        stopped.keyboard.press(key)
    assert stopped.locator("#one[open]").count() == 1
    stopped.clock.run_for(1_000)
    stopped.keyboard.press("Enter")
    assert stopped.locator("#one[open]").count() == 1, "no button has the focus"
    stopped.keyboard.press("Tab")
    # A key that is held down since before is no press of its own.
    stopped.evaluate(
        """() => {
          const held = new KeyboardEvent("keydown", { key: "Enter", repeat: true, bubbles: true, cancelable: true });
          if (document.activeElement.dispatchEvent(held)) document.activeElement.click();
        }"""
    )
    assert stopped.locator("#one[open]").count() == 1
    stopped.keyboard.press("Enter")
    stopped.wait_for_selector("#one:not([open])", state="attached")
    assert stopped.evaluate("document.getElementById('one').returnValue") == "mine"
