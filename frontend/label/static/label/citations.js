/**
 * Citations in an answer: `[1]`, `[2, 3]`, `[1-3]`, `[^1]`, `[doc1]`, `【3†source】` or `(Source 2)`, also in full-width
 * brackets, name contexts by rank, from 1. Mirror of annotate/core/spans.py; tests/fixtures/citations.json holds both to
 * the same answers.
 *
 * @typedef {{start: number, end: number, first: number, last: number}} Citation  in UTF-16 units
 */

const NUMBER = "[0-9０-９]{1,3}";
const SPACE = "[ \u00a0\u3000]{0,2}";
const PART = `${NUMBER}(?:${SPACE}[-\u2010-\u2014－~～]${SPACE}${NUMBER})?`;
const SOURCE = "(?:[Ss]ources?|[Cc]ontexts?|[Pp]assages?|来源|上下文|段落)";
const NAMED = `(?:\\^|(?:${SOURCE}|[Dd]oc(?:ument)?s?|文档)${SPACE}(?:[:：]${SPACE})?)?${PART}`;
const AND = `${SPACE}(?:[,;，；、&]|and|和)${SPACE}`;
const BRACKETS = { "[": "]", "［": "］", "【": "】", "(": ")", "（": "）" };
const CITATION = new RegExp(`([\\[［【(（])(${SPACE})(${NAMED}(?:${AND}${NAMED})*)(?:†[^\\]］】\\n]{0,80})?${SPACE}([\\]］】)）])`, "g");
const STARTS_WITH_SOURCE = new RegExp(`^${SOURCE}`);

/** All citations, in order. A bracket with one of them belongs to it. @param {string} text @returns {Citation[]} */
export function citationsIn(text) {
  return [...text.matchAll(CITATION)].flatMap(ofBracket);
}

function ofBracket(found) {
  const [whole, open, space, parts, close] = found;
  if (BRACKETS[open] !== close || ("(（".includes(open) && !STARTS_WITH_SOURCE.test(parts))) return [];
  const from = found.index + open.length + space.length;
  const cited = [...parts.matchAll(new RegExp(PART, "g"))].map((part) => {
    const numbers = part[0].match(new RegExp(NUMBER, "g")).map((number) => Number(number.normalize("NFKC")));
    return { start: from + part.index, end: from + part.index + part[0].length, first: numbers[0], last: numbers.at(-1) };
  });
  if (cited.some((citation) => citation.first > citation.last)) return [];
  if (cited.length > 1) return cited;
  return [{ ...cited[0], start: found.index, end: found.index + whole.length }];
}

/** Whether there are contexts of these ranks, of this many. @param {Citation} citation @param {number} contexts */
export const isThere = (citation, contexts) => citation.first >= 1 && citation.last <= contexts;
