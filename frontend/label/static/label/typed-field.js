/** Words being typed: they belong to the step and the task that they were begun for, whatever comes on the screen meanwhile. */

import { announce } from "../base/announce.js";
import { element, say } from "../base/dom.js";
import { excess } from "./too-long.js";

/** @typedef {import("./steps.js").Step} Step */

const PAUSE_MS = 700;

export class TypedField {
  /** What is typed and not yet said. @type {{task: number, step: Step, timer: number}|null} */ #typing = null;

  /**
   * @param {HTMLTextAreaElement} field whose `data-most` is how many characters can be saved
   * @param {{part: string, tooLong: import("./too-long.js").TooLong, inHand(): {task: number, step: Step}, save(step: Step, words: string): void}} on
   */
  constructor(field, on) {
    this.field = field;
    this.on = on;
    this.most = Number(field.dataset.most);
    this.note = element("p", { className: "errorlist too-long", hidden: true });
    field.after(this.note);
    field.addEventListener("input", () => this.#typed());
    // In hand it is larger, and on a phone would lie behind the buttons.
    for (const name of ["focus", "input"]) {
      field.addEventListener(name, () => requestAnimationFrame(() => field.scrollIntoView({ block: "nearest" })));
    }
    field.addEventListener("blur", () => this.save());
  }

  /** Whether it is this step's that is being typed. @param {string} key */
  isTypedFor(key) {
    return this.#typing?.step.key === key;
  }

  #typed() {
    clearTimeout(this.#typing?.timer);
    this.#typing = { ...this.on.inHand(), ...this.#typing, timer: setTimeout(() => this.save(), PAUSE_MS) };
    this.on.tooLong.forget(this.#place(this.#typing.task, this.#typing.step.key));
    this.#tell();
  }

  #place(task, key) {
    return { task, key, part: this.on.part };
  }

  /** Says how much is too long, and aloud when it becomes so: a browser that cuts it says nothing. */
  #tell() {
    const many = excess(this.field.value, this.most);
    const shown = (number) => number.toLocaleString(document.documentElement.lang);
    this.note.textContent = many ? say("too_long", { n: shown(many), most: shown(this.most) }) : "";
    if (many && this.note.hidden) announce(this.note.textContent);
    this.note.hidden = !many;
    this.field.ariaInvalid = many ? "true" : null;
  }

  /** Shows the words as they are now, unless they are being typed. @param {string} key of their step @param {string} words */
  draw(key, words) {
    if (!this.isTypedFor(key)) this.field.value = this.on.tooLong.at(this.#place(this.on.inHand()?.task, key)) ?? words;
    this.#tell();
  }

  /** Says what was typed; what is too long for that is kept. */
  save() {
    const typed = this.#end();
    if (!typed) return;
    if (this.on.inHand()?.task !== typed.task) return;
    const words = this.field.value;
    if (excess(words, this.most)) this.on.tooLong.keep(this.#place(typed.task, typed.step.key), words);
    else this.on.save(typed.step, words);
  }

  /** The task went to another annotator or was closed: returns the words, so that the annotator can be told them. @returns {string} */
  giveUp() {
    return this.#end() ? this.field.value.trim() : "";
  }

  #end() {
    const typed = this.#typing;
    clearTimeout(typed?.timer);
    this.#typing = null;
    return typed;
  }
}
