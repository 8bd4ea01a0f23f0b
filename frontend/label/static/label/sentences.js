/**
 * Sentences of a text, by the browser's own rules for the language (Unicode, Chinese included). In UTF-16 units, without
 * the white space around them.
 *
 * @typedef {{start: number, end: number}} Sentence
 */

// Where a browser has no segmenter of its own.
const ROUGHLY = /[^.!?。！？…\n]+(?:[.!?。！？…]+["'”’」』)）\]]*|\n|$)|[.!?。！？…\n]/gu;

/** @param {string} text @param {string} language @returns {Sentence[]} */
export function sentencesOf(text, language) {
  const found = [];
  for (const { segment, index } of parts(text, language)) {
    const start = index + segment.length - segment.trimStart().length;
    const end = index + segment.trimEnd().length;
    if (start < end) found.push({ start, end });
  }
  return found;
}

function parts(text, language) {
  if (typeof Intl.Segmenter === "function") return new Intl.Segmenter(language, { granularity: "sentence" }).segment(text);
  return Array.from(text.matchAll(ROUGHLY), (match) => ({ segment: match[0], index: match.index }));
}

/**
 * The sentences of a long text, worked out piece by piece where they are looked at. No sentence goes on behind the end of
 * a line, so the pieces (cut at line ends) have the same ones as the whole.
 */
export class Sentences {
  #text;
  #language;
  #pieces;
  /** @type {Map<number, Sentence[]>} */ #known = new Map();

  /** @param {string} text @param {number[]} cuts where its pieces begin @param {string} language */
  constructor(text, cuts, language) {
    this.#text = text;
    this.#language = language;
    this.#pieces = cuts;
  }

  #of(piece) {
    if (piece < 0 || piece >= this.#pieces.length) return [];
    if (!this.#known.has(piece)) {
      const from = this.#pieces[piece];
      const words = sentencesOf(this.#text.slice(from, this.#pieces[piece + 1] ?? this.#text.length), this.#language);
      this.#known.set(piece, words.map(({ start, end }) => ({ start: start + from, end: end + from })));
    }
    return this.#known.get(piece);
  }

  /** The sentence at a place, or the first one behind it, or the last one before it; null in an empty text. @param {number} offset */
  at(offset) {
    let piece = this.#pieces.findLastIndex((from) => from <= offset);
    for (; piece < this.#pieces.length; piece += 1) {
      const found = this.#of(piece).find(({ end }) => end > offset);
      if (found) return found;
    }
    return this.before(Infinity);
  }

  /** @param {number} offset @returns {Sentence|null} the first one that begins there or behind */
  after(offset) {
    for (let piece = Math.max(0, this.#pieces.findLastIndex((from) => from <= offset)); piece < this.#pieces.length; piece += 1) {
      const found = this.#of(piece).find(({ start }) => start >= offset);
      if (found) return found;
    }
    return null;
  }

  /** @param {number} offset @returns {Sentence|null} the last one that ends there or before */
  before(offset) {
    for (let piece = this.#pieces.findLastIndex((from) => from < offset); piece >= 0; piece -= 1) {
      const found = this.#of(piece).findLast(({ end }) => end <= offset);
      if (found) return found;
    }
    return null;
  }
}
