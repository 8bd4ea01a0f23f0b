/**
 * The page's one polite live region: said aloud by screen readers, seen by nobody.
 *
 * What is said for one key is said as one sentence after the other: a second announcement would cut off the first. And
 * the same words twice are said twice, although a text that stays the same is no news to a screen reader.
 */

// Some claims are pages long; whoever wants to hear all of it goes there.
const SHORT = 240;
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
  const region = document.getElementById("announce");
  const text = waiting.join(" ");
  waiting = [];
  region.textContent = region.textContent === text ? text + SAME_AGAIN : text;
}

/** @param {string} text */
export function shortened(text) {
  const characters = [...text];
  return characters.length > SHORT ? `${characters.slice(0, SHORT).join("").trimEnd()}…` : text;
}

/** A part that ends as a sentence does, so that the voice makes a pause. @param {string} text @param {(text: string) => string} stop */
export const sentence = (text, stop) => (!text || /[.!?…。！？:：;；]["”’»)\]]*$/u.test(text.trim()) ? text : stop(text));
