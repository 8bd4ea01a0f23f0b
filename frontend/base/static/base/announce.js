/**
 * The page's one polite live region: said aloud by screen readers, and not visible.
 *
 * What is said for one key is said as one sentence after the other: a second announcement would cut off the first. And
 * the same words twice are said twice, although a text that stays the same is no news to a screen reader.
 */

import { byId } from "./dom.js";

const SAME_AGAIN = "\u00a0";

/** @type {string[]} what is to be said when the key in hand has done everything */
let waiting = [];

/** @param {string} text */
export function announce(text) {
  if (!text) return;
  if (!waiting.length) queueMicrotask(speak);
  if (!waiting.includes(text)) waiting.push(text);
}

function speak() {
  const region = byId("announce");
  const text = waiting.join(" ");
  waiting = [];
  region.textContent = region.textContent === text ? text + SAME_AGAIN : text;
}
