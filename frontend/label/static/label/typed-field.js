/** Words being typed: they belong to the step and the task that they were begun for, whatever comes on the screen meanwhile. */

/** @typedef {import("./steps.js").Step} Step */

const PAUSE_MS = 700;

export class TypedField {
  /** What is typed and not yet said. @type {{task: number, step: Step, timer: number}|null} */ #typing = null;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {{inHand(): {task: number, step: Step}, save(step: Step, words: string): void}} on
   */
  constructor(field, on) {
    this.field = field;
    this.on = on;
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
  }

  /** Shows the words as they are now, unless they are being typed. @param {string} key of their step @param {string} words */
  draw(key, words) {
    if (!this.isTypedFor(key)) this.field.value = words;
  }

  /** Says what was typed. */
  save() {
    const typed = this.#end();
    if (!typed) return;
    if (this.on.inHand()?.task === typed.task) this.on.save(typed.step, this.field.value);
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
