/**
 * Spans in text. The server counts Unicode code points, JavaScript counts UTF-16 units: in "a😀b" the b is at 2 for the
 * one and at 3 for the other. Mirror of annotate/spans.py; tests/fixtures/spans.json holds both to the same answers.
 */

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
 * Cuts a text where spans begin and end; spans may overlap.
 * @param {string} text
 * @param {{id: number, start: number, end: number}[]} spans  code points
 * @returns {{text: string, ids: number[], begins: number[]}[]}  `ids` shortest span first; `begins`: those that start here
 */
export function segments(text, spans) {
  const offsets = toUtf16(text, spans.flatMap((span) => [span.start, span.end]));
  const placed = spans
    .map((span, i) => ({ id: span.id, start: offsets[2 * i], end: offsets[2 * i + 1] }))
    .filter((span) => span.start < span.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
  const cuts = [...new Set([0, text.length, ...placed.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  return cuts.slice(0, -1).map((from, i) => {
    const here = placed.filter((span) => span.start <= from && from < span.end);
    return {
      text: text.slice(from, cuts[i + 1]),
      ids: here.map((span) => span.id),
      begins: here.filter((span) => span.start === from).map((span) => span.id),
    };
  });
}
