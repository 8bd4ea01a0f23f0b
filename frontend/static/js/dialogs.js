/** The dialogs of the workspace. Each is a <dialog> in the page whose buttons close it with a value. */

import { shortcutsOn, switchShortcuts } from "./keys.js";
import { say } from "./render.js";

const byId = (id) => document.getElementById(id);

/** Opens a dialog and waits for its value; "" when it was closed without one. @param {HTMLDialogElement} dialog @returns {Promise<string>} */
function ask(dialog) {
  if (dialog.open) return Promise.resolve("");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true }));
}

/** Wires what is the same on every opening. Called once. */
export function prepareDialogs() {
  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close(button.dataset.close));
  }
  const shortcuts = byId("shortcuts");
  shortcuts.checked = shortcutsOn();
  shortcuts.addEventListener("change", () => switchShortcuts(shortcuts.checked));
  for (const reason of document.querySelectorAll("[data-reason]")) {
    reason.addEventListener("click", () => {
      byId("skip-reason").value = reason.textContent.trim();
      byId("skip-reason").focus();
    });
  }
  byId("skip-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("skip-reason").value.trim()) byId("skip-dialog").close("skip");
    else byId("skip-error").hidden = false;
  });
}

/** @returns {Promise<string>} the reason, or "" when the person thought better of it */
export async function askSkipReason() {
  byId("skip-reason").value = "";
  byId("skip-error").hidden = true;
  const answer = await ask(byId("skip-dialog"));
  return answer === "skip" ? byId("skip-reason").value.trim() : "";
}

/**
 * @typedef {{value: string, comment: string, evidence: import("./spans.js").Span[]}} Version
 * @param {{title: string, mine: Version, theirs: Version}} versions
 * @returns {Promise<"mine"|"theirs"|"">}
 */
export function askWhichVersion({ title, mine, theirs }) {
  byId("conflict-title").textContent = title;
  for (const [side, version] of Object.entries({ mine, theirs })) {
    byId(`conflict-${side}-value`).textContent = version.value;
    byId(`conflict-${side}-comment`).textContent = version.comment;
    byId(`conflict-${side}-evidence`).replaceChildren(...version.evidence.map(quoted));
  }
  return ask(byId("conflict-dialog"));
}

/** @param {import("./spans.js").Span} span */
function quoted(span) {
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const item = make("li", "");
  const quote = make("q", "");
  quote.append(make("bdi", span.quote));
  item.append(make("span", say("unit_context", { n: span.context + 1 })), " ", quote);
  return item;
}

export const showHelp = () => ask(byId("help-dialog"));
export const showGuidelines = () => ask(byId("guidelines-dialog"));
