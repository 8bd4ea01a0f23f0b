/**
 * What was done in the task in hand, so that it can be undone and done again. Knows nothing of page or server: its
 * caller says again what was said before, which is a change like any other.
 *
 * @typedef {{value: unknown, cant_tell: string, comment: string, evidence: object[]}} Said
 * @typedef {{key: string, before: Said, after: Said}} Deed  `key`: of the step
 */

import { sameEvidence } from "../base/spans.js";
import { sameValue } from "./steps.js";

const NOTHING = { value: null, cant_tell: "", comment: "", evidence: [] };

/** The part of a label that a person says. @param {Partial<Said>|undefined} label @returns {Said} */
export function saidOf(label) {
  const { value, cant_tell, comment, evidence } = { ...NOTHING, ...label };
  return { value, cant_tell, comment, evidence };
}

/** @param {Said} one @param {Said} other */
export const sameSaid = (one, other) =>
  sameValue(one.value, other.value) && one.cant_tell === other.cant_tell && one.comment === other.comment && sameEvidence(one.evidence, other.evidence);

/** Which part of a deed changed; one of the names of Said. @param {Deed} deed */
export function changedPart({ before, after }) {
  if (!sameValue(before.value, after.value)) return "value";
  if (before.cant_tell !== after.cant_tell) return "cant_tell";
  return before.comment !== after.comment ? "comment" : "evidence";
}

export class History {
  /** @type {Deed[]} */ #done = [];
  /** @type {Deed[]} */ #undone = [];

  /** Another task is in hand. */
  clear() {
    this.#done = [];
    this.#undone = [];
  }

  /** @param {Deed} deed */
  add(deed) {
    if (sameSaid(deed.before, deed.after)) return;
    this.#done.push(deed);
    this.#undone = [];
  }

  /** @param {(key: string) => Said} now what stands there @returns {Deed|null} what to say: its `before` */
  undo(now) {
    return this.#move(this.#done, this.#undone, (deed) => sameSaid(now(deed.key), deed.after));
  }

  /** @param {(key: string) => Said} now @returns {Deed|null} what to say: its `after` */
  redo(now) {
    return this.#move(this.#undone, this.#done, (deed) => sameSaid(now(deed.key), deed.before));
  }

  /** A deed whose outcome was changed elsewhere since is none that one can undo. */
  #move(from, to, stillSo) {
    for (let deed = from.pop(); deed; deed = from.pop()) {
      if (!stillSo(deed)) continue;
      to.push(deed);
      return deed;
    }
    return null;
  }
}
