/** Taking the last submission back: to the sample that one was too quick with. */

/**
 * @typedef {import("./steps.js").Task} Task
 * @typedef {{task: Task, action: "submit"|"skip"}} Finished
 */

export class Finishes {
  /** @type {Finished[]} the last one last */ #done = [];
  /** To be taken back as soon as its submission has an answer. */ #wanted = 0;
  /** One at a time: a second press would open the same task again, over what was just shown. */ #underWay = false;

  /**
   * @param {object} wiring
   * @param {import("./outbox.js").Outbox} wiring.outbox
   * @param {(id: number) => Promise<import("../base/request.js").Reply>} wiring.reopen
   * @param {{shown(task: Task, finished: Finished): void, nothing(): void, refused(reply: import("../base/request.js").Reply): void}} wiring.on
   */
  constructor({ outbox, reopen, on }) {
    this.outbox = outbox;
    this.reopen = reopen;
    this.on = on;
  }

  get any() {
    return this.#done.length > 0;
  }

  /** @param {Finished} finished */
  add(finished) {
    this.#done.push(finished);
  }

  /** The task as it was when it was finished here. @param {number} id @returns {Task|undefined} */
  taskOf(id) {
    return this.#done.find((one) => one.task.id === id)?.task;
  }

  /** Its submission was refused: it is open anyway. @param {number} id */
  forget(id) {
    this.#done = this.#done.filter((one) => one.task.id !== id);
  }

  async takeBack() {
    if (this.#underWay) return;
    this.#underWay = true;
    await this.#takeLastBack();
    this.#underWay = false;
  }

  async #takeLastBack() {
    const last = this.#done.at(-1);
    if (!last) return this.on.nothing();
    const { id } = last.task;
    if (this.outbox.withdraw(id)) return this.#show(last.task, last);
    if (this.outbox.finishing.some((entry) => entry.task === id) && this.outbox.state === "saving") {
      this.#wanted = id;
      return;
    }
    const reply = await this.reopen(id);
    if (reply.outcome === "ok") this.#show(reply.data.task, last);
    else this.on.refused(reply);
  }

  /** The server knows of it now. @param {number} id */
  answered(id) {
    if (this.#wanted !== id) return;
    this.#wanted = 0;
    void this.takeBack();
  }

  #show(task, finished) {
    this.forget(task.id);
    this.on.shown(task, finished);
  }
}
