/** Words that are too long to be saved: they stay here, by their place, until they are shortened. Nothing cuts them. */

/** @typedef {{task: number, key: string, part: string}} Place  the task, the step's key, and which of its fields */

const same = (one, other) => one.task === other.task && one.key === other.key && one.part === other.part;

/** How many characters are too many, counted as the server does: in code points. @param {string} words @param {number} most */
export const excess = (words, most) => (words.length <= most ? 0 : Math.max(0, [...words].length - most));

export class TooLong {
  /** @type {(Place & {words: string})[]} */ #kept = [];

  get any() {
    return this.#kept.length > 0;
  }

  /** @param {Place} place @param {string} words */
  keep(place, words) {
    this.forget(place);
    this.#kept.push({ ...place, words });
  }

  /** @param {Place} place */
  forget(place) {
    this.#kept = this.#kept.filter((one) => !same(one, place));
  }

  /** @param {Place} place @returns {string|undefined} */
  at(place) {
    return this.#kept.find((one) => same(one, place))?.words;
  }

  /** Whether a field of the step holds some. @param {number} task @param {string} key */
  has(task, key) {
    return this.#kept.some((one) => one.task === task && one.key === key);
  }

  /** The task is no longer the annotator's: what they were writing. @param {number} task */
  giveUp(task) {
    const words = this.#kept.filter((one) => one.task === task).map((one) => one.words.trim());
    this.#kept = this.#kept.filter((one) => one.task !== task);
    return words.join(" ");
  }
}
