/**
 * What there is to decide in a task, in which order, and what is still open. Pure functions.
 *
 * @typedef {{value: unknown, label: string, hotkey?: string, help?: string, meaning?: ""|"pass"|"fail"|"undecided"}} Option
 * @typedef {{key: string, name: string, unit: string, scale: string, prompt: string, help: string, required: boolean, cant_tell: boolean, prefill?: ""|"answer", options: Option[]}} Criterion
 * @typedef {{question: string, answer: string|null, answer_b: string|null, reference: string|null, abstained: boolean|null, contexts: {id: string|null, text: string}[],
 *   claims: import("../base/spans.js").Claim[], key_facts: string[], entities: string[]}} Sample
 * @typedef {{unit: string, criterion: string, value: unknown, cant_tell: string, comment: string, evidence: object[], revision: number, active_ms?: number}} Label
 * @typedef {{id: number, status: string, active_seconds: number, guideline_version?: number|null, batch: {number: number, name: string, due_date: string|null},
 *   return_message: string, returned_by: string|null, leased?: boolean, sample: Sample, criteria: Criterion[], labels: Label[],
 *   proposals?: Record<string, {judge: string, values: Record<string, unknown>}>|null, threads?: import("./questions.js").Thread[]}} Task
 * @typedef {{unit: string, kind: string, index: number, number: number, of: number, criterion: Criterion, key: string, start: string}} Step
 *   `start`: what the field of a written answer holds before anybody wrote.
 */

import { claimOrder } from "../base/spans.js";

const KINDS = ["claim", "context", "fact", "entity", "answer", "sample"];
const LISTS = { claim: "claims", context: "contexts", fact: "key_facts", entity: "entities" };

/** @param {string} unit @param {string} criterion */
export const stepKey = (unit, criterion) => `${unit}|${criterion}`;

/** Decided: by a value, or by saying that none can be given. @param {Label|undefined} label */
export const isDone = (label) => label !== undefined && (label.value !== null || Boolean(label.cant_tell));

/** @param {Task} task @returns {Step[]} */
export function stepsOf(task) {
  return KINDS.flatMap((kind) => {
    const asked = task.criteria.filter((criterion) => criterion.unit === kind);
    const list = LISTS[kind] ? task.sample[LISTS[kind]] : null;
    const order = !list ? [0] : kind === "claim" ? claimOrder(list) : list.map((_, i) => i);
    return order.flatMap((index, place) => {
      const unit = list ? `${kind}:${index}` : kind;
      const where = { unit, kind, index, number: place + 1, of: order.length };
      return asked.map((criterion) => ({ ...where, criterion, key: stepKey(unit, criterion.key), start: startOf(criterion, task.sample) }));
    });
  });
}

/** The words of the step's unit. @param {Sample} sample @param {Step} step */
export function unitText(sample, step) {
  if (step.kind === "claim") return sample.claims.find((claim) => claim.index === step.index).text;
  if (step.kind === "fact") return sample.key_facts[step.index];
  if (step.kind === "entity") return sample.entities[step.index];
  // Contexts and answers are too long to repeat beside the question; they are highlighted where they stand.
  return "";
}

/**
 * Where to go after a decision at `from`: the next open step, else an open required one before it, else null.
 * @param {Step[]} steps @param {Map<string, Label>} labels @param {number} from
 */
export function nextOpen(steps, labels, from) {
  const open = (step) => !isDone(labels.get(step.key));
  const ahead = steps.findIndex((step, i) => i > from && open(step));
  return ahead >= 0 ? ahead : firstMissing(steps, labels);
}

/** The first required step without a value, or null when the task is complete. */
export function firstMissing(steps, labels) {
  const i = steps.findIndex((step) => step.criterion.required && !isDone(labels.get(step.key)));
  return i < 0 ? null : i;
}

/** Whether its answer is the annotator's own words. @param {Criterion} criterion */
export const isText = (criterion) => criterion.scale === "text";

/** @param {Criterion} criterion @param {Sample} sample */
const startOf = (criterion, sample) => (criterion.prefill === "answer" ? (sample.answer ?? "") : "");

/** Whether its answer is any number of its options. @param {Criterion} criterion */
export const isMulti = (criterion) => criterion.scale === "multi";

/** Values as they are stored: a selection is another one when it holds other options. */
export const sameValue = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** Whether a button of the option with this value is pressed. An empty selection is an option of its own, "none". */
export const isChosen = (value, of) => (Array.isArray(value) && !Array.isArray(of) ? value.includes(of) : sameValue(value, of));

/**
 * A selection with one option more or less, in the order of the options; [] is none of them, and null no answer yet.
 * @param {Criterion} criterion @param {unknown} value @param {unknown} pressed  an option's value, or [] for none
 */
export function toggled(criterion, value, pressed) {
  if (Array.isArray(pressed)) return sameValue(value, pressed) ? null : pressed;
  const before = Array.isArray(value) ? value : [];
  const after = criterion.options.map((option) => option.value).filter((each) => before.includes(each) !== (each === pressed));
  return after.length ? after : null;
}

/** What a field shows of a label that is text. @param {Step} step @param {Label|undefined} label */
export const textShown = (step, label) => String(label?.value ?? step.start);

/** The text as a field holds it. @param {string} text */
export const inLines = (text) => text.replace(/\r\n?/g, "\n");

/** As annotate.core.texts.same_words says. @param {string} one @param {string} other */
const sameWords = (one, other) => {
  const [a, b] = [one, other].map((text) => inLines(text).replace(/^[ \t\n]+|[ \t\n]+$/g, ""));
  return a === b;
};

/** The value that the words in the field are: null for none, and for what it started with. @param {Step} step @param {string} words */
export const textValue = (step, words) => (words.trim() && !sameWords(words, step.start) ? words : null);

/** @returns {{done: number, total: number, missing: number}} */
export function tally(steps, labels) {
  const done = steps.filter((step) => isDone(labels.get(step.key)));
  const missing = steps.filter((step) => step.criterion.required && !isDone(labels.get(step.key)));
  return { done: done.length, total: steps.length, missing: missing.length };
}

/** The step to land on one unit further (or back): its first open one, else its first. */
export function neighbourUnit(steps, labels, from, direction) {
  const units = [...new Set(steps.map((step) => step.unit))];
  return stepOfUnit(steps, labels, units[units.indexOf(steps[from].unit) + direction]);
}

/** The unit's first open step, else its first, else null. */
export function stepOfUnit(steps, labels, unit) {
  const first = steps.findIndex((step) => step.unit === unit);
  const open = steps.findIndex((step) => step.unit === unit && !isDone(labels.get(step.key)));
  return open >= 0 ? open : first >= 0 ? first : null;
}
