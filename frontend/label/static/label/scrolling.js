/** What scrolls when another task or another step is in hand: what is asked about comes into sight, as far as it isn't yet. */

import { byId } from "../base/dom.js";
import { fits, inSight, isWhole, reveal, scrollerOf } from "./places.js";

/** @typedef {import("./steps.js").Step} Step */

/** @type {{toTop: boolean, row: HTMLElement|null, unit: Step|null}|null} what the next frame scrolls */
let scrolls = null;
/** The kind of the unit that was in hand before. */
let kindBefore = "";

/**
 * Scrolling needs the layout; asked for once, when everything is drawn, there is one layout and not one per question.
 * @param {{toTop?: boolean, row?: HTMLElement, unit?: Step}} what  a new task; the step's row in the list; a step of another unit
 */
export function scrollLater(what) {
  if (!scrolls) requestAnimationFrame(scroll);
  scrolls = { toTop: false, row: null, unit: null, ...scrolls, ...what };
}

function scroll() {
  const { toTop, row, unit } = scrolls;
  scrolls = null;
  if (toTop) {
    kindBefore = "";
    for (const column of document.querySelectorAll("[data-scrolls]")) column.scrollTop = 0;
    if (window.scrollY) window.scrollTo(0, 0);
  }
  if (unit) scrollTexts(unit);
  if (row) scrollList(byId("steps-column"), row);
}

/** @param {Step} step */
function scrollTexts(step) {
  const isLikeBefore = step.kind === kindBefore;
  kindBefore = step.kind;
  const unit = unitInTexts(step.kind);
  if (!unit || hasCardThere(unit) || (isLikeBefore && isReadElsewhere(unit)) || isWhole(around(unit))) return;
  // A claim or a fact is compared with the answer, and the answer with the question: with them where there is room.
  const tops = byId("contexts").contains(unit) ? [] : [byId("question"), byId("answer-heading")];
  const wider = tops.map((top) => around(top, unit)).find(fits);
  reveal(wider ?? around(unit));
}

/** Where the unit in hand stands: a context as a whole, anything else where its words are. @param {string} kind @returns {Element|null} */
function unitInTexts(kind) {
  if (kind === "answer") return byId("answer");
  return byId("contexts").querySelector(".context.current") ?? document.querySelector("[data-units].current");
}

/** Whether the unit would scroll away its card, where the whole form shares a column with the texts. @param {Element} unit */
const hasCardThere = (unit) => document.documentElement.dataset.view === "all" && scrollerOf(unit).contains(byId("form"));

/**
 * Whether a context is being read where the unit would scroll it away, and the unit is in sight all the same: its words stand
 * whole beside the question.
 * @param {Element} unit
 */
function isReadElsewhere(unit) {
  const contexts = byId("contexts");
  const words = byId("unit-text");
  const isBeside = !words.hidden && words.scrollHeight <= words.clientHeight;
  return isBeside && !contexts.contains(unit) && scrollerOf(unit).contains(contexts) && inSight(contexts);
}

/** @param {Element} first @param {Element} [last] */
function around(first, last = first) {
  const range = new Range();
  range.setStartBefore(first);
  range.setEndAfter(last);
  return range;
}

/** Scrolls the list, and never the page around it as scrollIntoView does. @param {Element} column @param {Element} item */
function scrollList(column, item) {
  const view = column.getBoundingClientRect();
  const place = item.getBoundingClientRect();
  if (place.top < view.top) column.scrollTop -= view.top - place.top + place.height;
  else if (place.bottom > view.bottom) column.scrollTop += place.bottom - view.bottom + place.height;
}
