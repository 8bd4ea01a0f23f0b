/**
 * Puts state on the screen, and nothing else.
 * A task is drawn once; a decision afterwards only changes attributes and words in place, so that nothing jumps.
 */

import { announce } from "../base/announce.js";
import { bdi, byId, element, say, setText } from "../base/dom.js";
import { optionKeys } from "../base/keys.js";
import { piecesOf, segments } from "../base/spans.js";
import { citationsIn, isThere } from "./citations.js";
import { scrollLater } from "./scrolling.js";
import { isChosen, isDone, isMulti, isText, tally, unitText } from "./steps.js";

/** @typedef {import("./steps.js").Task} Task @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

/** The unit that is highlighted; only a change of it may scroll, so that one can read on while deciding. */
let markedUnit = "";

/** Of the task on the screen, by the step's key. @type {Map<string, HTMLElement>} */
const stepButtons = new Map();

/** @param {string} text */
const pieces = (text) => piecesOf(text).map((from, i, all) => element("bdi", { className: "piece", text: text.slice(from, all[i + 1]) }));

function fill(id, ...children) {
  byId(id).replaceChildren(...children);
}

/** @param {Step} step */
export const unitName = (step) => say(`unit_${step.kind}`, { n: step.number });

/** @param {Step} step */
export const stepTitle = (step) => `${unitName(step)} · ${step.criterion.name}`;

/** @param {import("./steps.js").Criterion} criterion */
export function valueName(criterion, value) {
  if (value === null || value === undefined) return say("no_choice");
  if (Array.isArray(value)) return value.map((one) => valueName(criterion, one)).join(", ") || say("none_of_these");
  return criterion.options.find((option) => option.value === value)?.label ?? String(value);
}

/** What was said, in words. @param {import("./steps.js").Criterion} criterion @param {Partial<Label>|null|undefined} label */
export function saidName(criterion, label) {
  return label?.cant_tell ? say("cant_tell_because", { reason: label.cant_tell }) : valueName(criterion, label?.value);
}

// --- a task ---------------------------------------------------------------------------------------------------------

/** @param {Task} task @param {Step[]} steps @param {Map<string, Label>} labels */
export function drawTask(task, steps, labels) {
  const { sample, batch } = task;
  const names = new Map(steps.map((step) => [step.unit, step.number]));
  setText("batch-name", batch.name);
  setText("due", batch.due_date ? say("due", { date: new Date(`${batch.due_date}T00:00`).toLocaleDateString(document.documentElement.lang, { dateStyle: "medium" }) }) : "");
  fill("question", ...pieces(sample.question));
  drawReturned(task);
  // Two answers that came without contexts take their place, and cite what isn't here.
  const isPair = sample.answer_b !== null && !sample.contexts.length;
  const contexts = isPair ? null : sample.contexts.length;
  byId("contexts-column").hidden = isPair;
  drawAnswer(sample, names, contexts);
  optional("answer-b", sample.answer_b, (text) => answerParts(text, [], contexts));
  setText("answer-heading", say(sample.answer_b === null ? "answer" : "answer_a"));
  optional("reference", sample.reference, pieces);
  drawListed("facts", sample.key_facts, "fact");
  drawListed("entities", sample.entities, "entity");
  drawContexts(sample);
  stepButtons.clear();
  fill("steps", ...steps.map((step, i) => stepRow(step, steps[i - 1])));
  for (const step of steps) drawStepState(step, labels);
  markedUnit = "";
  scrollLater({ toTop: true });
}

/** What a reviewer asks for, until it is submitted again. */
function drawReturned(task) {
  byId("returned").hidden = !task.return_message;
  setText("returned-by", task.returned_by ? say("returned_by", { name: task.returned_by }) : say("returned"));
  fill("returned-message", bdi(task.return_message ?? ""));
}

function optional(id, text, draw) {
  byId(`${id}-block`).hidden = text === null || text === "";
  fill(id, ...draw(text ?? ""));
}

function drawAnswer(sample, names, contexts) {
  const number = (index) => names.get(`claim:${index}`) ?? index + 1;
  const placed = sample.claims.filter((claim) => claim.start !== null).map((claim) => ({ ...claim, id: claim.index }));
  byId("no-answer").hidden = sample.answer !== null;
  byId("abstained").hidden = !sample.abstained;
  fill("answer", ...(sample.answer === null ? [] : answerParts(sample.answer, placed, contexts, number)));
  const elsewhere = sample.claims.filter((claim) => claim.start === null);
  byId("claims-block").hidden = !elsewhere.length;
  fill("claims", ...elsewhere.map(({ index, text }) => listedUnit(`claim:${index}`, number(index), text)));
}

/** An answer with its claims marked and its citations linked; one without either is laid out like any text. contexts: how many; null: they are not shown. */
function answerParts(text, claims, contexts, number) {
  const cited = contexts === null ? [] : citationsIn(text);
  if (!claims.length && !cited.length) return pieces(text);
  const parts = segments(text, claims, cited.flatMap((citation) => [citation.start, citation.end]));
  const citationAt = ({ start }) => cited.find((citation) => citation.start <= start && start < citation.end);
  return [element("bdi", { className: "piece", children: parts.map((part) => answerPart(part, number, citationAt(part), contexts)) })];
}

function answerPart(part, number, citation, contexts) {
  const words = citation ? citationLink(part.text, citation, contexts) : document.createTextNode(part.text);
  if (!part.ids.length) return words;
  const data = { units: part.ids.map((id) => `claim:${id}`).join(" ") };
  // The number is drawn by the style sheet, so that copied text has none.
  if (part.begins.length) data.number = part.begins.map(number).join(" ");
  return element("mark", { className: "claim", data, children: [words] });
}

function citationLink(text, citation, contexts) {
  const { first, last } = citation;
  const cites = first === last ? say("cites", { n: first }) : say("cites_range", { first, last });
  if (isThere(citation, contexts)) {
    return element("a", { className: "cite", href: `#context-${first}`, title: cites, ariaLabel: `${text} ${cites}`, text, data: { first, last } });
  }
  const missing = say({ 0: "cites_of_none", 1: "cites_of_one" }[contexts] ?? "cites_of", { cites, count: contexts });
  return element("a", { className: "cite cite-missing", role: "link", tabIndex: 0, ariaDisabled: "true", title: missing, ariaLabel: `${text} ${missing}`, text });
}

function drawListed(id, texts, kind) {
  byId(`${id}-block`).hidden = !texts.length;
  fill(id, ...texts.map((text, i) => listedUnit(`${kind}:${i}`, i + 1, text)));
}

const listedUnit = (unit, number, text) =>
  element("li", { className: "listed", data: { units: unit, number }, children: [bdi(text)] });

function drawContexts(sample) {
  byId("no-contexts").hidden = sample.contexts.length > 0;
  fill("contexts", ...sample.contexts.map(drawContext));
}

function drawContext(context, i) {
  const heading = element("h3", { text: say("unit_context", { n: i + 1 }), data: { units: `context:${i}` } });
  if (context.id) heading.append(" ", element("span", { className: "context-id", children: [bdi(context.id)] }));
  const text = element("div", { className: "text", children: pieces(context.text) });
  return element("li", { className: "context", id: `context-${i + 1}`, tabIndex: -1, data: { unitBox: `context:${i}` }, children: [heading, text] });
}

function stepRow(step, before) {
  const sameUnit = before?.unit === step.unit;
  const children = [
    element("span", { className: "step-unit", text: unitName(step) }),
    element("span", { className: "step-criterion", children: [bdi(step.criterion.name)] }),
    element("span", { className: "step-value" }),
  ];
  const button = element("button", { type: "button", className: "step", data: { unit: step.unit, criterion: step.criterion.key }, children });
  stepButtons.set(step.key, button);
  return element("li", { className: sameUnit ? "" : "step-first", children: [button] });
}

// Characters of a written answer: the style sheet shows fewer.
const IN_LIST = 80;

/** What was said, in a word or two. @param {Step} step @param {Label} label */
function inList(step, label) {
  if (label.cant_tell) return say("cant_tell");
  return step.start ? say("corrected") : valueName(step.criterion, label.value).slice(0, IN_LIST);
}

/** @param {Step} step @param {Map<string, Label>} labels */
export function drawStepState(step, labels) {
  const label = labels.get(step.key);
  const button = stepButtons.get(step.key);
  button.dataset.done = String(isDone(label));
  button.querySelector(".step-value").replaceChildren(
    isDone(label) ? bdi(inList(step, label)) : element("span", { className: "visually-hidden", text: say("open") }),
  );
  button.classList.toggle("has-comment", Boolean(label?.comment));
  button.classList.toggle("has-evidence", Boolean(label?.evidence.length));
}

// --- the step in hand -----------------------------------------------------------------------------------------------

/** @param {Task} task @param {Step} step @param {Label|undefined} label */
export function drawStep(task, step, label) {
  setText("unit-name", `${say(`unit_${step.kind}_of`, { n: step.number, of: step.of })} · ${step.criterion.name}`);
  const text = unitText(task.sample, step);
  fill("unit-text", bdi(text));
  byId("unit-text").hidden = !text;
  setText("prompt", step.criterion.prompt);
  drawHelp(step.criterion);
  setText("optional-note", step.criterion.required ? "" : say("optional"));
  drawOptions(step.criterion, label);
  markUnit(step);
  byId("steps").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const row = stepButtons.get(step.key);
  row.setAttribute("aria-current", "step");
  scrollLater({ row });
}

/** More than this of help makes the options wander; it is shown when it is asked for. */
const LONG_HELP = 320;
/** Where the texts and the decision share one column, or a low window has room for the question alone, as in workspace.css. */
const TIGHT = matchMedia("(max-width: 43.99rem), (max-height: 42rem)");
/** What the person asked for; until then length and room decide. @type {boolean|null} */
let helpWanted = null;

function drawHelp(criterion) {
  const words = [criterion.help, ...criterion.options.map((option) => option.help ?? "")];
  const length = words.reduce((sum, text) => sum + text.length, 0);
  const fits = length <= LONG_HELP && !TIGHT.matches;
  const shown = helpWanted ?? fits;
  setText("criterion-help", criterion.help);
  byId("criterion-help").hidden = !shown || !criterion.help;
  byId("work").dataset.help = shown ? "shown" : "hidden";
  byId("help-text").hidden = length === 0 || (fits && helpWanted === null);
  byId("help-text").setAttribute("aria-expanded", String(shown));
}

/** @param {import("./steps.js").Criterion} criterion */
export function toggleHelp(criterion) {
  helpWanted = byId("work").dataset.help === "hidden";
  drawHelp(criterion);
}

function drawOptions(criterion, label) {
  const value = label?.value ?? null;
  const group = byId("options");
  byId("number-block").hidden = criterion.options.length > 0 || isText(criterion);
  byId("number").value = byId("number-block").hidden || value === null ? "" : String(value);
  // Among units of one criterion the buttons stay where and what they are.
  const shown = shownOptions(criterion);
  const drawn = JSON.stringify([criterion.scale, shown]);
  if (group.dataset.drawn !== drawn) {
    const hadFocus = group.contains(document.activeElement);
    group.replaceChildren(...optionButtons(criterion));
    group.setAttribute("role", isMulti(criterion) ? "group" : "radiogroup");
    group.classList.toggle("options-graded", shown.every((option) => option.label.length <= 3));
    group.dataset.drawn = drawn;
    if (hadFocus) group.firstElementChild?.focus();
  }
  byId("several").hidden = !isMulti(criterion);
  byId("cant-tell").hidden = !criterion.cant_tell;
  drawChoice(label);
}

/** With "none of these" last, where several can be chosen: that none applies is a decision too. */
function shownOptions(criterion) {
  if (!isMulti(criterion)) return criterion.options;
  const taken = criterion.options.some((option) => option.hotkey === "0");
  return [...criterion.options, { value: [], label: say("none_of_these"), ...(taken ? {} : { hotkey: "0" }) }];
}

/** @param {import("./steps.js").Criterion} criterion @returns {HTMLButtonElement[]} */
export function optionButtons(criterion) {
  const shown = shownOptions(criterion);
  const keys = optionKeys(shown);
  return shown.map((option, i) => optionButton(option, keys[i], isMulti(criterion) ? "checkbox" : "radio"));
}

function optionButton(option, key, role) {
  const words = element("span", { className: "option-words", children: [element("span", { className: "option-label", children: [bdi(option.label)] })] });
  if (option.help) words.append(element("span", { className: "option-help", children: [bdi(option.help)] }));
  const button = element("button", { type: "button", className: "option", data: { value: JSON.stringify(option.value), key, meaning: option.meaning ?? "" }, children: [words] });
  if (key) button.prepend(element("kbd", { text: key, ariaHidden: "true" }));
  if (key) button.setAttribute("aria-keyshortcuts", key);
  button.setAttribute("role", role);
  return button;
}

/** @param {HTMLElement[]} buttons  of the options of one question @param {unknown} value */
export function drawChosen(buttons, value) {
  const chosen = buttons.filter((button) => value !== null && isChosen(value, JSON.parse(button.dataset.value)));
  // Of buttons of which one is chosen one can be tabbed to; boxes are reached one by one.
  const reachable = chosen[0] ?? buttons[0];
  for (const button of buttons) {
    button.setAttribute("aria-checked", String(chosen.includes(button)));
    button.tabIndex = button === reachable || button.getAttribute("role") === "checkbox" ? 0 : -1;
  }
}

/** @param {Label|undefined} label */
export function drawChoice(label) {
  drawChosen([...byId("options").children], label?.value ?? null);
  byId("cant-tell").setAttribute("aria-pressed", String(Boolean(label?.cant_tell)));
  setText("cant-tell-text", label?.cant_tell ? say("cant_tell_because", { reason: label.cant_tell }) : say("cant_tell_ask"));
  byId("clear").disabled = !isDone(label);
}

function markUnit(step) {
  if (step.unit === markedUnit) return;
  markedUnit = step.unit;
  for (const item of document.querySelectorAll("[data-units]")) item.classList.toggle("current", item.dataset.units.split(" ").includes(step.unit));
  for (const box of byId("contexts").children) box.classList.toggle("current", box.dataset.unitBox === step.unit);
  scrollLater({ unit: step });
}

// --- around it ------------------------------------------------------------------------------------------------------

/** @param {Step[]} steps @param {Map<string, Label>} labels @param {{left: number, done: number, total: number}} progress */
export function drawProgress(steps, labels, progress) {
  const { done, total, missing } = tally(steps, labels);
  setText("progress-task", say("progress_task", { done, total }));
  setText("progress-batch", say("progress_batch", { left: progress.left }));
  Object.assign(byId("progress-bar"), { max: Math.max(1, total), value: done });
  Object.assign(byId("progress").dataset, { done, total, left: progress.left });
  byId("submit").classList.toggle("button-primary", missing === 0);
  setText("complete", missing === 0 ? say("complete") : say("missing", { n: missing }));
}

/** Why submitting did not happen, where "all decided" would stand; until the next decision. @param {string} text */
export function explain(text) {
  setText("complete", text);
}

const HINT_MS = 8_000;
let hintTimer = 0;
let saveTimer = 0;

/** A word on what just happened; it goes by itself, or with the next step (""). @param {string} text */
export function hint(text) {
  const box = byId("hint");
  box.textContent = text;
  box.hidden = !text;
  clearTimeout(hintTimer);
  hintTimer = setTimeout(() => (box.hidden = true), HINT_MS);
  if (text) announce(text);
}

/** @param {string} state @param {boolean} isKept  whether what waits outlives this page */
export function drawSaveState(state, isKept) {
  const box = byId("save-state");
  if (box.dataset.state === state && box.dataset.kept === String(isKept)) return;
  Object.assign(box.dataset, { state, kept: isKept });
  for (const told of document.querySelectorAll("[data-kept-here]")) told.textContent = say(isKept ? "away_kept" : "away_unkept");
  clearTimeout(saveTimer);
  // A save that takes the usual few milliseconds is not worth a flicker, nor a word from a screen reader.
  saveTimer = setTimeout(() => {
    const name = state.replace("-", "_");
    setText("save-text", say(isKept || state === "conflict" ? name : `${name}_unkept`));
    box.dataset.shown = state;
    byId("log-in").hidden = state !== "logged-out";
    byId("resolve").hidden = state !== "conflict";
  }, state === "saving" ? 400 : 0);
}

/**
 * Something the person must know; it stays until they close it.
 * @param {string} text @param {{label: string, act: () => void}} [offer]
 */
export function notify(text, offer) {
  const close = element("button", { type: "button", className: "button button-small button-quiet", text: say("dismiss") });
  const box = element("div", { className: "callout callout-warn notice", children: [element("p", { children: [bdi(text)] }), close] });
  close.addEventListener("click", () => box.remove());
  if (offer) {
    const button = element("button", { type: "button", className: "button button-small", text: offer.label });
    button.addEventListener("click", () => (box.remove(), offer.act()));
    close.before(button);
  }
  byId("notices").append(box);
}

/** @param {"task"|"loading"|"away"|"ended"|"done"} stage */
export function showStage(stage) {
  document.documentElement.dataset.stage = stage;
  byId("work").hidden = byId("progress").hidden = stage !== "task";
  for (const box of document.querySelectorAll("[data-stage-box]")) box.hidden = box.dataset.stageBox !== stage;
}

/**
 * The annotator's work here has ended while the page was open: their account was deactivated, or their membership is over.
 * Nothing is sent again by itself, and nothing that was chosen is thrown away.
 * @param {string} message the server's
 */
export function showEnded(message) {
  byId("ended-text").textContent = message;
  if (isEnded()) return;
  showStage("ended");
  // What had the focus is out of sight; the button is the next stop from here.
  document.querySelector('[data-stage-box="ended"]').focus({ preventScroll: true });
}

/** Whether that is what the page shows. */
export const isEnded = () => document.documentElement.dataset.stage === "ended";
