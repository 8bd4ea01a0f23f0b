/** Searching a text as people read it: without regard to case, accents, width of letters, and invisible characters. */

// Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs; not the vowels of Indic scripts, which are letters.
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u{fe00}-\u{fe0f}]|\p{Cf}/gu;
// Runs that need no thought (ASCII; Han and its full stop), else a character with what is written upon it.
const PLAIN = /^[\0-\x7f\u4e00-\u9fff\u3001\u3002]/;
const RUNS = /[\0-\x7f]+|[\u4e00-\u9fff\u3001\u3002]+|[^\0-\x7f][\p{M}\u{ff9e}\u{ff9f}]*/gu;

// A language has few characters that need thought, and a text has them again and again.
const folded = new Map();
const MOST_KNOWN = 20_000;

/** @param {string} character with what is written upon it */
function foldCharacter(character) {
  if (!folded.has(character)) {
    if (folded.size > MOST_KNOWN) folded.clear();
    folded.set(character, character.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").toLowerCase());
  }
  return folded.get(character);
}

/**
 * @typedef {{words: string, places: Int32Array}} Folded  `places`: for each unit of `words`, and its end, the offset in the text
 * @param {string} text @returns {Folded}
 */
export function fold(text) {
  const parts = [];
  let places = new Int32Array(text.length + 1);
  let size = 0;
  for (const { 0: run, index } of text.matchAll(RUNS)) {
    const plain = PLAIN.test(run);
    const words = plain ? run.toLowerCase() : foldCharacter(run);
    if (size + words.length >= places.length) {
      const larger = new Int32Array(2 * places.length + words.length);
      larger.set(places);
      places = larger;
    }
    for (let i = 0; i < words.length; i += 1) places[size + i] = plain ? index + i : index;
    size += words.length;
    parts.push(words);
  }
  places[size] = text.length;
  return { words: parts.join(""), places: places.subarray(0, size + 1) };
}

/**
 * Where folded words occur, one behind the other. White space at the ends of the query counts: it is what was typed.
 * @param {Folded} folded @param {string} query @returns {{start: number, end: number}[]} in the original text
 */
export function findAll({ words, places }, query) {
  const wanted = fold(query).words;
  const found = [];
  if (!wanted) return found;
  for (let at = words.indexOf(wanted); at >= 0; at = words.indexOf(wanted, at + wanted.length)) {
    const start = places[at];
    let next = at + wanted.length;
    // A letter that became several is found as a whole.
    while (next < words.length && places[next] === places[next - 1]) next += 1;
    found.push({ start, end: places[next] });
  }
  return found;
}
