/**
 * Invisible characters: what they are called, and a toggle that shows them. A mark wraps the character and draws its
 * name by the style sheet; so the text stays what it is for copying, for search and for counting.
 */

const NAMES = new Map([
  [0x85, "NEL"], [0xa0, "NBSP"], [0xad, "SHY"], [0x34f, "CGJ"], [0x61c, "ALM"], [0x115f, "HCF"], [0x1160, "HJF"], [0x1680, "OGHAM SP"],
  [0x17b4, "KIVAQ"], [0x17b5, "KIVAA"], [0x180e, "MVS"], [0x2000, "NQSP"], [0x2001, "MQSP"], [0x2002, "ENSP"], [0x2003, "EMSP"],
  [0x2004, "3/MSP"], [0x2005, "4/MSP"], [0x2006, "6/MSP"], [0x2007, "FSP"], [0x2008, "PSP"], [0x2009, "THSP"], [0x200a, "HSP"],
  [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"], [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LSEP"], [0x2029, "PSEP"],
  [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x202f, "NNBSP"], [0x205f, "MMSP"],
  [0x2060, "WJ"], [0x2061, "FN()"], [0x2062, "×"], [0x2063, "INVSEP"], [0x2064, "+"], [0x2066, "LRI"], [0x2067, "RLI"],
  [0x2068, "FSI"], [0x2069, "PDI"], [0x2800, "BRAILLE BLANK"], [0x3164, "HF"], [0xfeff, "BOM"], [0xffa0, "HWHF"], [0xfffc, "OBJ"],
]);
const TAGS = 0xe0000;

// Joiners within an emoji (a family, a flag of a region) belong to the picture and are no surprise.
const PICTURE = "\\p{Extended_Pictographic}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]*";
const FLAG = "\\u{1f3f4}[\\u{e0020}-\\u{e007f}]*";
const JOINED = `(?<!${PICTURE})\\u200d|\\u200d(?!\\p{Extended_Pictographic})`;
const REST = [...NAMES.keys()].filter((point) => point !== 0x200d).map((point) => `\\u{${point.toString(16)}}`).join("");
const UNSEEN = new RegExp(`[${REST}\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f]|${JOINED}|(?<!${FLAG})[\\u{e0000}-\\u{e007f}]`, "gu");

// Most texts have none of them, which a simpler pattern sees sooner; \udb40 is the first half of every tag.
const MAYBE = new RegExp(`[${[...NAMES.keys()].map((point) => `\\u${point.toString(16).padStart(4, "0")}`).join("")}\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\udb40]`);

// What may deceive a reader: of no width, or changing the direction of what follows.
const SUSPECT = /^(?:ZWSP|WJ|BOM|MVS|ALM|LRM|RLM|LRE|RLE|PDF|LRO|RLO|LRI|RLI|FSI|PDI|FN\(\)|×|INVSEP|\+|TAG.*)$/;

// Joiners are spelling in scripts whose letters join; in others they are not typed.
const JOINERS = new Set(["ZWNJ", "ZWJ"]);
const UNJOINED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{N}\s]$/u;

/** @param {string} character @returns {string} what it is called */
export function unseenName(character) {
  const point = character.codePointAt(0);
  if (point >= TAGS && point < TAGS + 0x80) return point > TAGS + 0x20 ? `TAG ${String.fromCharCode(point - TAGS)}` : "TAG";
  return NAMES.get(point) ?? `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Every unseen character of a text. @param {string} text @returns {{index: number, character: string, name: string}[]} */
export function unseenIn(text) {
  if (!MAYBE.test(text)) return [];
  return Array.from(text.matchAll(UNSEEN), ({ 0: character, index }) => ({ index, character, name: unseenName(character) }));
}

/** What should be hinted at, with how often: `Map {"RLO" → 1}`. @param {string[]} texts @returns {Map<string, number>} */
export function suspectsIn(texts) {
  const counts = new Map();
  for (const text of texts) {
    for (const { index, name } of unseenIn(text)) {
      const odd = SUSPECT.test(name) || (JOINERS.has(name) && UNJOINED.test(text.slice(Math.max(0, index - 2), index)));
      const group = name.startsWith("TAG") ? "TAG" : name;
      if (odd) counts.set(group, (counts.get(group) ?? 0) + 1);
    }
  }
  return counts;
}

/** Wraps each unseen character below an element. Doing it again changes nothing. @param {Element} root @returns {boolean} whether it did */
export function markUnseen(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */ const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  let changed = false;
  for (const node of texts) {
    if (node.parentElement.className === "unseen") continue;
    const found = unseenIn(node.data);
    if (!found.length) continue;
    changed = true;
    const parts = [];
    let from = 0;
    for (const { index, character, name } of found) {
      const mark = Object.assign(document.createElement("span"), { className: "unseen", textContent: character });
      mark.dataset.name = name;
      parts.push(node.data.slice(from, index), mark);
      from = index + character.length;
    }
    node.replaceWith(...parts.concat(node.data.slice(from)).filter((part) => part !== ""));
  }
  return changed;
}

/** Takes the marks away again. @param {Element} root @returns {boolean} whether there were any */
export function unmarkUnseen(root) {
  const marks = root.querySelectorAll(".unseen");
  for (const mark of marks) mark.replaceWith(...mark.childNodes);
  if (marks.length) root.normalize();
  return marks.length > 0;
}
