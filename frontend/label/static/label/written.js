/** Answers that are written and not chosen: free text, in the decision's own field or in the cards of the whole form. */

import { byId } from "../base/dom.js";
import { formTexts } from "./form.js";
import { Prefilled } from "./prefilled.js";
import { isText, textShown, textValue } from "./steps.js";
import { TypedField } from "./typed-field.js";

/** @typedef {import("./steps.js").Step} Step @typedef {import("./steps.js").Label} Label @typedef {import("./steps.js").Task} Task */

export class Written {
  /** In the cards of the whole form. @type {{step: Step, typed: TypedField, prefilled: Prefilled}[]} */ #cards = [];

  /**
   * @param {{tooLong: import("./too-long.js").TooLong, task(): Task|null, step(): Step, label(step: Step): Label|undefined, say(step: Step, value: string|null): void}} on
   */
  constructor(on) {
    this.on = on;
    this.field = byId("text");
    this.typed = this.#field(this.field, on.step);
    this.prefilled = this.#prefilled(this.field, this.typed, () => on.task() && on.step());
    this.field.addEventListener("keydown", (event) => event.key === "Escape" && this.field.blur());
  }

  #field(field, step) {
    const inHand = () => this.on.task() && { task: this.on.task().id, step: step() };
    return new TypedField(field, { part: "value", tooLong: this.on.tooLong, inHand, save: (about, words) => this.#save(about, words) });
  }

  #prefilled(field, typed, step) {
    return new Prefilled(field, { step, restored: () => typed.save() });
  }

  #save(step, words) {
    const value = textValue(step, words);
    if (value !== (this.on.label(step)?.value ?? null)) this.on.say(step, value);
  }

  /** @param {Step} step in hand */
  draw(step) {
    byId("text-block").hidden = !isText(step.criterion);
    if (isText(step.criterion)) this.typed.draw(step.key, textShown(step, this.on.label(step)));
    this.prefilled.draw();
  }

  /** The cards were drawn anew. */
  bindCards() {
    this.#cards = formTexts().map(([step, field]) => {
      const typed = this.#field(field, () => step);
      return { step, typed, prefilled: this.#prefilled(field, typed, () => step) };
    });
    this.drawCards();
  }

  /** What was said of them may have changed. */
  drawCards() {
    for (const { step, typed, prefilled } of this.#cards) {
      if (typed.field !== document.activeElement) typed.draw(step.key, textShown(step, this.on.label(step)));
      prefilled.draw();
    }
  }

  #all() {
    return [this.typed, ...this.#cards.map(({ typed }) => typed)];
  }

  /** @param {string} key of a step */
  isTypedFor(key) {
    return this.#all().some((one) => one.isTypedFor(key));
  }

  /** Says what was typed. */
  save() {
    for (const one of this.#all()) one.save();
  }

  /** The task is no longer the annotator's: what they were writing. */
  giveUp() {
    return this.#all().map((one) => one.giveUp()).filter(Boolean).join(" ");
  }
}
