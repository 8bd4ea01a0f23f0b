/** The dialogs of the workspace, each a <dialog> in the page whose buttons close it with a value. */

import { bdi, byId, element, leave, say } from "../base/dom.js";
import { meant, shortcutsOn } from "../base/keys.js";
import { guardUnasked } from "./unasked.js";

/** Who waits for the value of an open dialog. @type {Map<HTMLDialogElement, (value: string) => void>} */
const waiting = new Map();

/** Opens a dialog and waits for its value; "" when it was closed without one. @param {HTMLDialogElement} dialog @returns {Promise<string>} */
function ask(dialog) {
  if (dialog.open) return Promise.resolve("");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    waiting.set(dialog, resolve);
    const closed = () => {
      // The event of an earlier closing, told late: it is open again.
      if (dialog.open) return;
      dialog.removeEventListener("close", closed);
      resolve(dialog.returnValue);
    };
    dialog.addEventListener("close", closed);
  });
}

/** @param {HTMLDialogElement} dialog */
function askUnasked(dialog) {
  const answered = ask(dialog);
  guardUnasked(dialog);
  return answered;
}

/** Closes it, and what waits for it goes on at once: a quick next key must find the decision made. The event comes later. */
function answer(dialog, value) {
  dialog.close(value);
  leave(dialog);
  waiting.get(dialog)?.(value);
}

/**
 * Wires what is the same on every opening. Called once.
 * @param {{shortcuts(on: boolean): void}} on  the person switched the single-key shortcuts
 */
export function prepareDialogs(on) {
  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => answer(button.closest("dialog"), button.dataset.close));
  }
  const shortcuts = byId("shortcuts");
  shortcuts.checked = shortcutsOn();
  shortcuts.addEventListener("change", () => on.shortcuts(shortcuts.checked));
  for (const name of ["skip", "flag", "cant-tell"]) prepareReasons(name);
}

/** A dialog that asks for a reason: some to choose from, by click or by digit, and room for one's own words. */
function prepareReasons(name) {
  const dialog = byId(`${name}-dialog`);
  const field = byId(`${name}-reason`);
  const reasons = [...dialog.querySelectorAll("[data-reason]")];
  for (const reason of reasons) {
    reason.addEventListener("click", () => {
      field.value = reason.querySelector("[data-words]").textContent.trim();
      answer(dialog, "done");
    });
  }
  dialog.addEventListener("keydown", (event) => {
    if (event.target === field || event.ctrlKey || event.metaKey || event.altKey || !shortcutsOn()) return;
    const [key] = meant(event);
    const reason = reasons[Number(key) - 1];
    if (!reason && key !== String(reasons.length + 1)) return;
    event.preventDefault();
    // The dialog is closed when the page hears of the key, which would take it for an option's.
    event.stopPropagation();
    if (reason) reason.click();
    else field.focus();
  });
  byId(`${name}-form`).addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) answer(dialog, "done");
    else byId(`${name}-error`).hidden = false;
  });
}

/**
 * @param {"skip"|"flag"|"cant-tell"} name @param {string} [words] what stands there already
 * @returns {Promise<string>} the reason, or "" when the person thought better of it
 */
export async function askReason(name, words = "") {
  byId(`${name}-reason`).value = words;
  byId(`${name}-error`).hidden = true;
  const answer = await ask(byId(`${name}-dialog`));
  return answer === "done" ? byId(`${name}-reason`).value.trim() : "";
}

/**
 * Known answers, once the sample is submitted.
 * @param {{title: string, yours: string, answer: string, reason: string, same: boolean}[]} rows
 */
export function showFeedback(rows) {
  const line = byId("feedback-line").content.firstElementChild;
  byId("feedback-rows").replaceChildren(
    ...rows.map((row) => {
      const made = line.cloneNode(true);
      for (const part of made.querySelectorAll("[data-part]")) part.textContent = row[part.dataset.part];
      made.querySelector("[data-same]").hidden = !row.same;
      made.querySelector("[data-differs]").hidden = row.same;
      return made;
    }),
  );
  return askUnasked(byId("feedback-dialog"));
}

/**
 * @typedef {{value: string, comment: string, evidence: import("../base/spans.js").Span[]}} Version
 * @param {{title: string, mine: Version, theirs: Version}} versions
 * @returns {Promise<string>} "mine" or "theirs"; "" when it was closed without an answer
 */
export function askWhichVersion({ title, mine, theirs }) {
  byId("conflict-title").textContent = title;
  for (const [side, version] of Object.entries({ mine, theirs })) {
    byId(`conflict-${side}-value`).textContent = version.value;
    byId(`conflict-${side}-comment`).textContent = version.comment;
    byId(`conflict-${side}-evidence`).replaceChildren(...version.evidence.map(quoted));
  }
  return askUnasked(byId("conflict-dialog"));
}

/** @param {import("../base/spans.js").Span} span */
function quoted(span) {
  const where = element("span", { text: say("unit_context", { n: span.context + 1 }) });
  return element("li", { children: [where, " ", element("q", { children: [bdi(span.quote)] })] });
}

export const showHelp = () => ask(byId("help-dialog"));
