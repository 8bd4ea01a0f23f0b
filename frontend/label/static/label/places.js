/**
 * Places in the texts on the screen: from an offset in a text (UTF-16 units) to where it is in the page, and back. A text
 * may be cut into pieces and marks in any way, as long as its text nodes in a row are the text.
 */

import { byId } from "../base/dom.js";

/** The text nodes of an element and the offset at which each begins. @type {WeakMap<Element, {nodes: Text[], starts: number[]}>} */
let known = new WeakMap();

/** After marks were put into texts or taken out. */
export function forgetPlaces() {
  known = new WeakMap();
}

function nodesOf(root) {
  if (!known.has(root)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    /** @type {Text[]} */ const nodes = [];
    const starts = [];
    let at = 0;
    while (walker.nextNode()) {
      const node = /** @type {Text} */ (walker.currentNode);
      nodes.push(node);
      starts.push(at);
      at += node.length;
    }
    known.set(root, { nodes, starts });
  }
  return known.get(root);
}

/** The last of the ascending numbers that is not above the limit. @param {number[]} numbers */
export function lastUpTo(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @param {Element} root @param {number} start @param {number} end @returns {Range} */
export function rangeOf(root, start, end) {
  const { nodes, starts } = nodesOf(root);
  const range = new Range();
  if (!nodes.length) return range;
  const first = Math.max(0, lastUpTo(starts, start));
  // An end on an edge belongs to the node before it.
  const last = Math.max(first, lastUpTo(starts, end - 1));
  range.setStart(nodes[first], Math.min(start - starts[first], nodes[first].length));
  range.setEnd(nodes[last], Math.min(end - starts[last], nodes[last].length));
  return range;
}

/** The offset in an element's text of a place in the page. @param {Element} root @param {Node} node @param {number} offset */
export function offsetIn(root, node, offset) {
  const { nodes, starts } = nodesOf(root);
  const i = nodes.indexOf(/** @type {Text} */ (node));
  if (i >= 0) return starts[i] + offset;
  const before = new Range();
  before.setStart(root, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

/** The part of a selection that lies in an element, without white space at its ends; null when there is none. @param {Range} selected */
export function selectedIn(root, selected) {
  const whole = new Range();
  whole.selectNodeContents(root);
  const overlaps = selected.compareBoundaryPoints(Range.END_TO_START, whole) < 0 && selected.compareBoundaryPoints(Range.START_TO_END, whole) > 0;
  if (!overlaps) return null;
  const startsWithin = selected.compareBoundaryPoints(Range.START_TO_START, whole) > 0;
  const endsWithin = selected.compareBoundaryPoints(Range.END_TO_END, whole) < 0;
  const text = root.textContent;
  let start = startsWithin ? offsetIn(root, selected.startContainer, selected.startOffset) : 0;
  let end = endsWithin ? offsetIn(root, selected.endContainer, selected.endOffset) : text.length;
  const words = text.slice(start, end);
  start += words.length - words.trimStart().length;
  end -= words.length - words.trimEnd().length;
  return start < end ? { start, end } : null;
}

/** What is under a point, or null. @returns {{node: Node, offset: number}|null} */
export function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y);
    return found && { node: found.offsetNode, offset: found.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}

const elementOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);

/** What scrolls a text: its column, both columns together, or the page. @param {Element} element @returns {Element} */
export function scrollerOf(element) {
  for (let box = element; box; box = box.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight) return box;
  }
  return document.scrollingElement;
}

/** The part of the window in which text of that scroller is seen: not below the bar over the contexts, not behind the decision. */
function sightOf(scroller) {
  const page = scroller === document.scrollingElement;
  const box = page ? { top: 0, bottom: innerHeight } : scroller.getBoundingClientRect();
  const decision = byId("decision").getBoundingClientRect();
  const bar = byId("contexts-bar").getBoundingClientRect();
  const covered = page && decision.top > innerHeight / 4 ? Math.min(box.bottom, decision.top) : box.bottom;
  return { top: box.top + bar.height, bottom: covered };
}

/** Those of the elements that are in sight or within a window's height of it. @param {Element[]} elements */
export function nearby(elements) {
  return elements.filter((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > -innerHeight && top < 2 * innerHeight;
  });
}

/** What is being scrolled to. @type {Range|null} */
let awaited = null;
const SETTLES = 8;
// Who presses, points or turns a wheel meanwhile is not scrolled back.
for (const name of ["keydown", "pointerdown", "wheel"]) {
  document.addEventListener(name, () => (awaited = null), { capture: true, passive: true });
}

/**
 * Scrolls words into sight, if they aren't. What is far away is laid out only when one comes there, and then takes another
 * height than was thought, so the next frames are checked.
 * @param {Range} range
 */
export function reveal(range) {
  awaited = bringIntoSight(range) ? range : null;
  if (awaited) follow(range, SETTLES);
}

function follow(range, frames) {
  requestAnimationFrame(() => {
    if (awaited !== range) return;
    bringIntoSight(range);
    if (frames > 1) follow(range, frames - 1);
  });
}

/** What is kept free above and below. */
const MARGIN = 24;

/** Whether there is room for all of it in sight. @param {Range} range */
export function fits(range) {
  const sight = sightOf(scrollerOf(elementOf(range.startContainer)));
  return range.getBoundingClientRect().height + 2 * MARGIN <= sight.bottom - sight.top;
}

/** Whether all of it is in sight. @param {Range} range */
export function isWhole(range) {
  const sight = sightOf(scrollerOf(elementOf(range.startContainer)));
  const place = range.getBoundingClientRect();
  return place.top >= sight.top && place.bottom <= sight.bottom;
}

function bringIntoSight(range) {
  const home = elementOf(range.startContainer);
  if (!home?.isConnected) return false;
  const scroller = scrollerOf(home);
  const sight = sightOf(scroller);
  const place = range.getBoundingClientRect();
  const above = sight.top + MARGIN - place.top;
  const below = place.bottom + MARGIN - sight.bottom;
  if (above <= 0 && below <= 0) return false;
  // What is longer than the sight begins at its top.
  const far = place.bottom < sight.top - innerHeight || place.top > sight.bottom + innerHeight;
  const centred = far ? (sight.bottom - sight.top - place.height) / 3 : 0;
  if (above > 0 || !fits(range)) scroller.scrollTop -= above + Math.max(0, centred);
  else scroller.scrollTop += below + Math.max(0, centred);
  return true;
}

/** Whether any of it is in sight. Of an element only its box is asked for: its words may not be laid out. @param {Element|Range} what */
export function inSight(what) {
  const home = what instanceof Range ? elementOf(what.startContainer) : what;
  if (home !== what && !inSight(home)) return false;
  const sight = sightOf(scrollerOf(home));
  const place = what.getBoundingClientRect();
  return place.bottom > sight.top && place.top < sight.bottom;
}

/** The offset of the first words of an element that are in sight, or null. @param {Element} element */
export function firstInSight(element) {
  const sight = sightOf(scrollerOf(element));
  const place = element.getBoundingClientRect();
  const top = Math.max(sight.top, place.top);
  // A line begins at its left or at its right.
  const edges = [place.left + 2, place.right - 2].map((x) => caretAt(x, top + 4));
  const offsets = edges.flatMap((found) => (found && element.contains(found.node) ? [offsetIn(element, found.node, found.offset)] : []));
  return offsets.length ? Math.min(...offsets) : null;
}
