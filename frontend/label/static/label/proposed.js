/** What a judge proposes for the step in hand. It is no answer until the annotator accepts it, or chooses another. */

import { bdi, byId, element, say } from "../base/dom.js";
import { valueName } from "./render.js";
import { isDone } from "./steps.js";

/** @typedef {import("./steps.js").Task} Task @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label */

/** @param {Task} task @param {Step} step @returns {{value: unknown, words: string}|null} */
export function proposalFor(task, step) {
  const proposed = task.proposals?.[step.criterion.key];
  if (!proposed || !(step.unit in proposed.values)) return null;
  const value = proposed.values[step.unit];
  return { value, words: say("proposed", { judge: proposed.judge, value: valueName(step.criterion, value) }) };
}

/** In the form of all questions; nothing where nothing is proposed. @param {Task} task @param {Step} step @returns {Node[]} */
export function proposalLine(task, step) {
  const proposal = proposalFor(task, step);
  return proposal ? [element("p", { className: "ws-proposed", children: [bdi(proposal.words)] })] : [];
}

export class Proposed {
  /** @param {{task(): Task|null, step(): Step, label(step: Step): Label|undefined, accept(value: unknown): void}} on */
  constructor(on) {
    this.on = on;
    this.words = bdi("");
    const kbd = element("kbd", { text: "↵", ariaHidden: "true" });
    this.button = element("button", { type: "button", className: "button button-small", children: [say("accept_proposal"), " ", kbd] });
    this.button.setAttribute("aria-keyshortcuts", "Enter");
    this.row = element("p", { className: "ws-proposed", id: "proposed", hidden: true, children: [this.words, this.button] });
    this.button.addEventListener("click", () => this.accept());
    byId("options").before(this.row);
  }

  draw() {
    const proposal = this.#inHand();
    this.row.hidden = !proposal;
    this.words.textContent = proposal?.words ?? "";
    this.row.dataset.done = String(isDone(this.on.label(this.on.step())));
  }

  /** Whether there was one to accept. */
  accept() {
    const proposal = this.#inHand();
    if (!proposal || isDone(this.on.label(this.on.step()))) return false;
    this.on.accept(proposal.value);
    return true;
  }

  #inHand() {
    const task = this.on.task();
    return task && proposalFor(task, this.on.step());
  }
}
