/**
 * What is being done to one claim, until it is confirmed or given up: where to cut it, which passage it is, its words.
 * A mode has `draw()` (what stands in the claim's row), `keys`, and `value()` (the change that it makes).
 *
 * `claim`: whose row it stands in; none for one that is added. `at`: the cut; `picked`: the passage, UTF-16; `words`: what
 * stands in the field, `began`: what the claim said then.
 *
 * @typedef {{kind: string, claim?: number, keys: Record<string, () => void>, hint: string, value: () => object|null, draw?: () => HTMLElement,
 *   at?: number, picked?: {start: number, end: number}, set?: (start: number, end: number) => void,
 *   words?: string, began?: string, read?: () => string, problem?: string, isSaving?: boolean}} Mode
 */

import { byId } from "../base/dom.js";
import { splitBox, textBox } from "./claims-view.js";
import { cutsOf, middleCut, sentencesOf, toPoints, wordsOf } from "./claims-words.js";

/** @param {import("./claims-view.js").Claim} claim @returns {Mode|null} null: one word can't be split */
export function splitMode(claim) {
  const cuts = cutsOf(claim.text);
  if (!cuts.length) return null;
  const mode = {
    kind: "split",
    claim: claim.index,
    at: middleCut(claim.text, cuts),
    move: (by) => (mode.at = Math.min(cuts.length - 1, Math.max(0, mode.at + by))),
    draw: () => splitBox(claim.text, cuts, mode.at),
    get hint() {
      const cut = cuts[mode.at];
      return `${claim.text.slice(0, cut).trim()} | ${claim.text.slice(cut).trim()}`;
    },
    value: () => ({ op: "split", claim: claim.index, at: toPoints(claim.text, cuts[mode.at]) }),
    keys: {
      ArrowLeft: () => mode.move(-1),
      ArrowRight: () => mode.move(1),
      Home: () => mode.move(-cuts.length),
      End: () => mode.move(cuts.length),
    },
  };
  return mode;
}

/** @param {string} answer @param {{start: number, end: number}} picked  UTF-16 @param {(start: number, end: number) => object} made */
export function passageMode(kind, answer, picked, made) {
  const words = wordsOf(answer);
  const sentences = sentencesOf(answer);
  const later = (place, from) => place.find((one) => one > from);
  const earlier = (place, from) => place.findLast((one) => one < from);
  const starts = words.map((word) => word.start);
  const ends = words.map((word) => word.end);
  const mode = {
    kind,
    picked,
    set: (start, end) => {
      if (start !== undefined && end !== undefined && start < end) mode.picked = { start, end };
    },
    get hint() {
      return answer.slice(mode.picked.start, mode.picked.end);
    },
    value: () => made(toPoints(answer, mode.picked.start), toPoints(answer, mode.picked.end)),
    keys: {
      ArrowRight: () => mode.set(mode.picked.start, later(ends, mode.picked.end)),
      ArrowLeft: () => mode.set(mode.picked.start, earlier(ends, mode.picked.end)),
      "Shift+ArrowRight": () => mode.set(later(starts, mode.picked.start), mode.picked.end),
      "Shift+ArrowLeft": () => mode.set(earlier(starts, mode.picked.start), mode.picked.end),
      ArrowDown: () => mode.sentence(sentences.find((one) => one.start > mode.picked.start)),
      ArrowUp: () => mode.sentence(sentences.findLast((one) => one.start < mode.picked.start)),
    },
    sentence: (one) => one && mode.set(one.start, one.end),
  };
  return mode;
}

/** The first sentence that no claim has, else the first. @param {string} answer @param {{start: number, end: number}[]} taken  UTF-16 */
export function freePassage(answer, taken) {
  const sentences = sentencesOf(answer);
  const isFree = (one) => !taken.some((span) => span.start < one.end && one.start < span.end);
  return sentences.find(isFree) ?? sentences[0] ?? null;
}

/**
 * Words stay in their field until the server has them: while they are being saved it can't be changed, and if they are
 * refused the reason stands beside it.
 * @param {string} text @param {(text: string) => object} made @returns {Mode}
 */
export function textMode(text, made) {
  const field = () => byId("claim-text");
  const mode = {
    kind: "text",
    hint: "",
    keys: {},
    began: text,
    words: text,
    problem: "",
    isSaving: false,
    // Drawn again when something changed around it: what was typed meanwhile stays.
    read: () => (mode.words = field()?.value ?? mode.words),
    draw: () => textBox(mode),
    value: () => (mode.read().trim() ? made(mode.words.trim()) : null),
  };
  return mode;
}
