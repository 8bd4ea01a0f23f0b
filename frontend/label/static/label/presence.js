/** How long the annotator has really been at work, also told to the server meanwhile. */

const EVERY_MS = 60_000;
// Another annotator's by now, or no longer open.
const LOST = new Set([404, 409]);

/**
 * How long the annotator was really at work: counts while the page is visible and used; a pause counts for `idleAfter` at most. Each moment is
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

  /** Whether the page was used just now. */
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

/**
 * Tells the server that the annotator is still at tasks that others wait for, so that they aren't given away meanwhile.
 * @param {object} wiring
 * @param {() => import("./steps.js").Task[]} wiring.tasks  what is held here: the task in hand and the one fetched ahead
 * @param {() => boolean} wiring.active  whether the page is being used
 * @param {(id: number) => Promise<import("../base/request.js").Reply>} wiring.send
 * @param {(id: number, message: string) => void} wiring.lost  another annotator has the task now
 */
export function startHeartbeat({ tasks, active, send, lost }) {
  const beat = async ({ id }) => {
    const reply = await send(id);
    if (reply.outcome === "refused" && LOST.has(reply.status)) lost(id, reply.message);
  };
  setInterval(() => {
    if (!active()) return;
    for (const task of tasks()) if (task.leased) void beat(task);
  }, EVERY_MS);
}
