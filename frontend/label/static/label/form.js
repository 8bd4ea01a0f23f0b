/** All questions of a task at once, one below the other; keys act on the one in hand. Drawn only while it is wanted. */

import { bdi, byId, say } from "../base/dom.js";
import { proposalLine } from "./proposed.js";
import { drawChosen, optionButtons, stepTitle, unitName } from "./render.js";
import { isMulti, isText, unitText } from "./steps.js";

/** @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label @typedef {import("./steps.js").Task} Task */

const list = byId("form");
/** By the step's key. @type {Map<string, HTMLElement>} */
const cards = new Map();
/** Of the cards whose answer is written. @type {[Step, HTMLTextAreaElement][]} */
let texts = [];

function make(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** @param {Task} task @param {Step[]} steps @param {Map<string, Label>} labels @param {string} cantTellKey */
export function drawForm(task, steps, labels, cantTellKey) {
  cards.clear();
  texts = [];
  steps.forEach((step, i) => cards.set(step.key, card(task, step, steps[i - 1]?.unit !== step.unit, cantTellKey)));
  list.replaceChildren(...cards.values());
  for (const step of steps) drawFormStep(step, labels.get(step.key));
}

function card(task, step, first, cantTellKey) {
  const made = make("li", first ? "form-step form-first" : "form-step");
  made.dataset.step = step.key;
  if (first) {
    const words = unitText(task.sample, step);
    made.append(make("h3", "ws-label", unitName(step)), ...(words ? [make("p", "text unit-text", bdi(words))] : []));
  }
  const { criterion } = step;
  const prompt = make("p", "form-prompt", bdi(criterion.prompt), " ", make("span", "required", criterion.required ? "" : say("optional")));
  prompt.id = `form-${step.unit}-${criterion.key}`;
  made.append(prompt, ...proposalLine(task, step), isText(criterion) ? text(step, prompt.id) : criterion.options.length ? choices(step, prompt.id) : number(step));
  if (criterion.cant_tell) made.append(cantTell(cantTellKey));
  return made;
}

function choices(step, named) {
  const group = make("div", "options form-options", ...optionButtons(step.criterion));
  group.setAttribute("role", isMulti(step.criterion) ? "group" : "radiogroup");
  group.setAttribute("aria-labelledby", named);
  return group;
}

function number(step) {
  const field = Object.assign(make("input", ""), { type: "number", step: "any", autocomplete: "off", ariaLabel: stepTitle(step) });
  return make("p", "form-number", field);
}

function text(step, named) {
  const field = Object.assign(make("textarea", "form-text"), { rows: 3, autocomplete: "off" });
  field.dataset.most = byId("text").dataset.most;
  field.setAttribute("aria-labelledby", named);
  texts.push([step, field]);
  return field;
}

function cantTell(key) {
  const button = make("button", "button button-small button-quiet form-cant-tell", say("cant_tell_ask"), " ");
  button.type = "button";
  button.dataset.cantTell = "";
  button.setAttribute("aria-keyshortcuts", key);
  button.append(Object.assign(make("kbd", "", key), { ariaHidden: "true" }));
  return button;
}

/** What is written in it is drawn by Written. @param {Step} step @param {Label|undefined} label */
export function drawFormStep(step, label) {
  const made = cards.get(step.key);
  if (!made) return;
  drawChosen([...made.querySelectorAll("[data-value]")], label?.value ?? null);
  const field = made.querySelector("input");
  if (field && field !== document.activeElement) field.value = label?.value ?? "";
  const unsure = made.querySelector("[data-cant-tell]");
  if (!unsure) return;
  unsure.setAttribute("aria-pressed", String(Boolean(label?.cant_tell)));
  unsure.firstChild.textContent = label?.cant_tell ? say("cant_tell_because", { reason: label.cant_tell }) : say("cant_tell_ask");
}

/** @param {Step} step */
export function turnFormTo(step) {
  const made = cards.get(step.key);
  if (!made || made.hasAttribute("aria-current")) return;
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  made.setAttribute("aria-current", "step");
  requestAnimationFrame(() => made.scrollIntoView({ block: "nearest" }));
}

/** What the key does in the card of the step. @param {Step} step @param {string} key @returns {HTMLElement|null} */
export const formOption = (step, key) => cards.get(step.key)?.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? null;

/** @param {Step} step @returns {HTMLInputElement|null} */
export const formNumber = (step) => cards.get(step.key)?.querySelector("input") ?? null;

/** Each card whose answer is written, with its field. */
export const formTexts = () => texts;

/** @param {Step} step @returns {HTMLTextAreaElement|null} */
export const formText = (step) => cards.get(step.key)?.querySelector("textarea") ?? null;

/**
 * @param {{go(key: string): void, choose(value: unknown): void, cantTell(): void}} on
 */
export function bindForm(on) {
  const keyOf = (event) => event.target.closest("[data-step]")?.dataset.step;
  list.addEventListener("focusin", (event) => keyOf(event) && on.go(keyOf(event)));
  list.addEventListener("click", (event) => {
    const key = keyOf(event);
    if (!key) return;
    on.go(key);
    const option = event.target.closest("[data-value]");
    if (option) on.choose(JSON.parse(option.dataset.value));
    else if (event.target.closest("[data-cant-tell]")) on.cantTell();
  });
  list.addEventListener("change", (event) => {
    if (event.target.type === "number" && event.target.value !== "") on.choose(event.target.valueAsNumber);
  });
  list.addEventListener("keydown", (event) => {
    if (event.target.matches("textarea") && event.key === "Escape") event.target.blur();
    if (event.target.type === "number" && (event.key === "Enter" || event.key === "Escape")) event.target.blur();
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const group = event.target.closest(".options");
    if (!move || !group) return;
    event.preventDefault();
    const buttons = [...group.children];
    buttons.at((buttons.indexOf(event.target.closest("button")) + move) % buttons.length).focus();
  });
}
