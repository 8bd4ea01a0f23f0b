/**
 * Spans in text. The server counts Unicode code points, JavaScript counts UTF-16 units: in "a😀b" the b is at 2 for the
 * one and at 3 for the other. Mirror of annotate/core/spans.py; tests/fixtures/spans.json holds both to the same answers.
 */

// A text longer than this is laid out in pieces, of which the browser skips those out of sight.
const PIECE = 4_000;

/** Where the pieces of a text begin: at its start and after line ends, so that they read like the whole. @param {string} text */
export function piecesOf(text) {
  const begins = text ? [0] : [];
  for (let from = 0; text.length - from > PIECE; ) {
    from = text.indexOf("\n", from + PIECE) + 1;
    if (from === 0 || from === text.length) break;
    begins.push(from);
  }
  return begins;
}

/**
 * UTF-16 offsets for code point offsets, in one pass over the text. An offset behind the end becomes the end.
 * @param {string} text
 * @param {number[]} offsets
 * @returns {number[]}
 */
export function toUtf16(text, offsets) {
  const order = offsets.map((_, i) => i).sort((a, b) => offsets[a] - offsets[b]);
  const result = new Array(offsets.length).fill(0);
  let unit = 0;
  let point = 0;
  for (const i of order) {
    while (point < offsets[i] && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    result[i] = unit;
  }
  return result;
}

/**
 * Cuts a text where spans begin and end, and at further places; spans may overlap.
 * @param {string} text
 * @param {{id: number, start: number, end: number}[]} spans  code points
 * @param {number[]} [places]  UTF-16 units
 * @returns {{text: string, start: number, ids: number[], begins: number[]}[]}  `start` in UTF-16 units; `ids` shortest span
 *   first; `begins`: those that start here
 */
export function segments(text, spans, places = []) {
  const offsets = toUtf16(text, spans.flatMap((span) => [span.start, span.end]));
  const placed = spans
    .map((span, i) => ({ id: span.id, start: offsets[2 * i], end: offsets[2 * i + 1] }))
    .filter((span) => span.start < span.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
  const cuts = [...new Set([0, text.length, ...places, ...placed.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, i) => {
    const here = placed.filter((span) => span.start <= from && from < span.end);
    return {
      text: text.slice(from, cuts[i + 1]),
      start: from,
      ids: here.map((span) => span.id),
      begins: here.filter((span) => span.start === from).map((span) => span.id),
    };
  });
}

/**
 * Code points for UTF-16 offsets; inside a pair of surrogates means before it.
 * @param {string} text
 * @param {number[]} offsets
 * @returns {number[]}
 */
export function toCodePoints(text, offsets) {
  const order = offsets.map((_, i) => i).sort((a, b) => offsets[a] - offsets[b]);
  const result = new Array(offsets.length).fill(0);
  let unit = 0;
  let point = 0;
  for (const i of order) {
    while (unit < offsets[i] && unit < text.length) {
      const width = text.codePointAt(unit) > 0xffff ? 2 : 1;
      if (unit + width > offsets[i]) break;
      unit += width;
      point += 1;
    }
    result[i] = point;
  }
  return result;
}

/**
 * @typedef {{index: number, text: string, start: number|null, end: number|null}} Claim  those that are there; `index` names the unit
 */

/** Indices of the claims as they stand in the answer; those without a place come last. @param {Claim[]} claims @returns {number[]} */
export function claimOrder(claims) {
  const place = (claim) => claim.start ?? Infinity;
  const order = claims.toSorted((a, b) => (place(a) === place(b) ? a.index - b.index : place(a) - place(b)));
  return order.map((claim) => claim.index);
}

/**
 * @typedef {{context: number, start: number, end: number, quote: string}} Span  in code points, as stored
 * @typedef {{context: number, start: number, end: number}} Place  in UTF-16 units, as the page counts
 */

/**
 * Where the span's quote stands in the text: at its place, else at the occurrence that begins nearest to the old start (of
 * two as near the earlier one). Null when the quote isn't in the text any more.
 * @param {string} text @param {Span} span @returns {Place|null}
 */
export function placeOf(text, span) {
  const { context, quote } = span;
  const [old] = toUtf16(text, [span.start]);
  const at = (start) => ({ context, start, end: start + quote.length });
  if (!quote) return null;
  // Behind the end of the text `old` is its end, where nothing begins.
  if (text.startsWith(quote, old)) return at(old);
  const before = old > 0 ? text.lastIndexOf(quote, old - 1) : -1;
  const after = text.indexOf(quote, old);
  if (before < 0 || after < 0) return before < 0 && after < 0 ? null : at(Math.max(before, after));
  const [left, right] = toCodePoints(text, [before, after]);
  return at(right - span.start < span.start - left ? after : before);
}

/** The span as it would be stored where it stands now, or null. @param {string} text @param {Span} span @returns {Span|null} */
export function relocate(text, span) {
  const place = placeOf(text, span);
  return place && spanAt(text, place);
}

/** @param {string} text of the context @param {Place} place @returns {Span} */
export function spanAt(text, { context, start, end }) {
  const [from, to] = toCodePoints(text, [start, end]);
  return { context, start: from, end: to, quote: text.slice(start, end) };
}

/** The same spans, in whatever order they were attached. @param {Span[]} mine @param {Span[]} theirs */
export function sameEvidence(mine, theirs) {
  const named = (spans) => spans.map((span) => JSON.stringify([span.context, span.start, span.end, span.quote])).sort().join();
  return named(mine) === named(theirs);
}

/**
 * A lane for each place, so that no two that overlap share one, as long as there are lanes.
 * @param {Place[]} places @param {number} lanes @returns {number[]}
 */
export function lanesOf(places, lanes) {
  const result = new Array(places.length).fill(0);
  const order = places.map((_, i) => i).sort((a, b) => places[a].start - places[b].start || places[b].end - places[a].end);
  const done = [];
  for (const i of order) {
    const overlapping = done.filter((j) => places[j].context === places[i].context && places[j].end > places[i].start);
    const taken = new Set(overlapping.map((j) => result[j]));
    const free = Array.from({ length: lanes }, (_, lane) => lane).find((lane) => !taken.has(lane));
    result[i] = free ?? overlapping.length % lanes;
    done.push(i);
  }
  return result;
}
