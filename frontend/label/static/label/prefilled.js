/** A field that starts with the answer: says whether the words in it differ from that, and offers the way back. */

import { element, say } from "../base/dom.js";
import { inLines, textValue } from "./steps.js";

/** @typedef {import("./steps.js").Step} Step */

export class Prefilled {
  /**
   * @param {HTMLTextAreaElement} field below which it stands
   * @param {{step(): Step|undefined, restored(): void}} on
   */
  constructor(field, on) {
    this.field = field;
    this.on = on;
    this.state = element("span", { className: "small muted" });
    this.button = element("button", { type: "button", className: "button button-quiet button-small", text: say("restore_answer") });
    this.row = element("p", { className: "ws-prefilled", children: [this.state, this.button] });
    this.button.addEventListener("click", () => this.#restore());
    field.addEventListener("input", () => this.draw());
    field.after(this.row);
  }

  draw() {
    const step = this.on.step();
    this.row.hidden = !step?.start;
    if (this.row.hidden) return;
    const isChanged = textValue(step, this.field.value) !== null;
    this.row.dataset.changed = String(isChanged);
    this.state.textContent = say(isChanged ? "answer_changed" : "answer_unchanged");
    this.button.hidden = this.field.value === inLines(step.start);
  }

  #restore() {
    this.field.value = this.on.step().start;
    this.field.dispatchEvent(new Event("input"));
    this.on.restored();
    this.field.focus();
  }
}
