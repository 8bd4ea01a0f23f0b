/** Where a text can be cut, and which changes can be undone. Pure functions; offsets in UTF-16, as the browser counts. */

const OPENING = /[\p{Ps}\p{Pi}]+$/u;
const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}]+/u;

const segmented = (text, granularity) => [...new Intl.Segmenter(undefined, { granularity }).segment(text)];

/** Code points before an offset. @param {string} text @param {number} offset */
export function toPoints(text, offset) {
  let count = 0;
  for (const _ of text.slice(0, offset)) count += 1;
  return count;
}

/** Words with the brackets, quotes and stops that belong to them. @param {string} text @returns {{start: number, end: number}[]} */
export function wordsOf(text) {
  return segmented(text, "word")
    .filter((part) => part.isWordLike)
    .map(({ index, segment }) => {
      const end = index + segment.length;
      const before = OPENING.exec(text.slice(0, index))?.[0].length ?? 0;
      const after = CLOSING.exec(text.slice(end))?.[0].length ?? 0;
      return { start: index - before, end: end + after };
    });
}

/** Where a claim can be split: before each of its words but the first. @param {string} text @returns {number[]} */
export const cutsOf = (text) => wordsOf(text).slice(1).map((word) => word.start);

/** The cut nearest to the middle. @param {string} text @param {number[]} cuts @returns {number} its place in `cuts` */
export function middleCut(text, cuts) {
  const away = cuts.map((cut) => Math.abs(cut - text.length / 2));
  return away.indexOf(Math.min(...away));
}

/** @param {string} text @returns {{start: number, end: number}[]} sentences that have a word, without the blanks around them */
export function sentencesOf(text) {
  return segmented(text, "sentence")
    .map(({ index, segment }) => ({ start: index + segment.length - segment.trimStart().length, end: index + segment.trimEnd().length }))
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
}

/**
 * What `z` and `y` go to: the revisions whose claims come before and after those there are now.
 * @param {{revision: number, change: {op: string, revision?: number}}[]} history  the latest first
 * @returns {{past: number[], future: number[]}} the nearest last
 */
export function replay(history) {
  let [past, future, current] = [[], [], 0];
  for (const { revision, change } of history.toReversed()) {
    const back = change.op === "restore_revision" ? change.revision : 0;
    if (change.op === "checked") continue;
    if (!current) current = revision;
    else if (back && past.at(-1) === back) [past, future, current] = [past.slice(0, -1), [...future, current], back];
    else if (back && future.at(-1) === back) [past, future, current] = [[...past, current], future.slice(0, -1), back];
    else [past, future, current] = [[...past, current], [], revision];
  }
  return { past, future };
}

/**
 * Which claim is in hand after a change: the new one, else the one that was, else the one in its place.
 * @param {{op: string}} change @param {{index: number}[]} before @param {{index: number}[]} now @param {number|null} current
 * @returns {number|null}
 */
export function inHandAfter(change, before, now, current) {
  const known = new Set(before.map((claim) => claim.index));
  const fresh = now.find((claim) => !known.has(claim.index));
  if (fresh && change.op !== "split_again" && change.op !== "replace") return fresh.index;
  if (now.some((claim) => claim.index === current)) return current;
  const at = before.findIndex((claim) => claim.index === current);
  return (now[at] ?? now.at(-1))?.index ?? null;
}
