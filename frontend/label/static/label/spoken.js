/** What a screen reader says of a task and its steps: short, and as sentences. */

import { say } from "../base/dom.js";
import { proposalFor } from "./proposed.js";
import { saidName } from "./render.js";
import { isDone, unitText } from "./steps.js";

/** @typedef {import("./steps.js").Task} Task @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

// Some claims are pages long; the whole of one is read where it stands.
const SHORT = 240;

/** @param {string} text */
export function shortened(text) {
  const characters = [...text];
  return characters.length > SHORT ? `${characters.slice(0, SHORT).join("").trimEnd()}…` : text;
}

/** A part that ends as a sentence does, so that the voice makes a pause. @param {string} text @param {(text: string) => string} stop */
export const sentence = (text, stop) => (!text || /[.!?…。！？:：;；]["”’»)\]]*$/u.test(text.trim()) ? text : stop(text));

const sentences = (...parts) => parts.filter(Boolean).map((part) => sentence(part, (words) => say("sentence", { words }))).join(" ");

/** Which unit it is, what it says, what is asked, and what was chosen, or else is proposed. @param {Task} task @param {Step} step @param {Label|undefined} label */
export function stepAloud(task, step, label) {
  const unit = say(`unit_${step.kind}_of`, { n: step.number, of: step.of });
  const text = unitText(task.sample, step);
  const which = text ? say("unit_says", { unit, text: shortened(text) }) : unit;
  return sentences(which, step.criterion.prompt, shortened(isDone(label) ? saidName(step.criterion, label) : proposalFor(task, step)?.words ?? ""));
}

/** The choice just made. @param {Step} step @param {Partial<Label>|undefined} label */
export const choiceAloud = (step, label) => sentences(shortened(saidName(step.criterion, label)));

/** Another sample is on the screen. @param {Task} task */
export const taskAloud = (task) => sentences(say("next_task"), shortened(task.sample.question));
