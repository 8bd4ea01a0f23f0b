/** How long somebody was really at work: while the page is in sight and something happens in it. */

/**
 * Counts while the page is visible and somebody does something; a pause counts for `idleAfter` at most. Each moment is
 * counted for the task, and for the step in hand.
 */
export class ActivityClock {
  #total = 0;
  #last = 0;
  /** @type {Map<string, number>} */ #bySteps = new Map();
  #step = "";

  constructor(idleAfter = 60_000) {
    this.idleAfter = idleAfter;
    const touch = () => this.#touch();
    for (const name of ["pointerdown", "pointermove", "keydown", "wheel", "scroll"]) {
      document.addEventListener(name, touch, { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", touch);
  }

  /**
   * @param {number} seconds already spent on the task
   * @param {Map<string, number>} [bySteps] milliseconds already spent on its steps
   */
  restart(seconds, bySteps = new Map()) {
    this.#total = seconds * 1000;
    this.#bySteps = new Map(bySteps);
    this.#step = "";
    this.#last = performance.now();
  }

  /** Another step is in hand. @param {string} key */
  turnTo(key) {
    this.#touch();
    this.#step = key;
  }

  /** Milliseconds spent on the step. @param {string} key */
  spentOn(key) {
    return Math.round((this.#bySteps.get(key) ?? 0) + (key === this.#step ? this.#pause() : 0));
  }

  get seconds() {
    return Math.floor((this.#total + this.#pause()) / 1000);
  }

  /** Whether somebody was there just now. */
  get active() {
    return this.#last > 0 && performance.now() - this.#last < this.idleAfter;
  }

  #pause() {
    return this.#last ? Math.min(performance.now() - this.#last, this.idleAfter) : 0;
  }

  #touch() {
    const pause = this.#pause();
    this.#total += pause;
    if (this.#step) this.#bySteps.set(this.#step, (this.#bySteps.get(this.#step) ?? 0) + pause);
    this.#last = document.visibilityState === "visible" ? performance.now() : 0;
  }
}
