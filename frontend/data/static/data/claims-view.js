/** Puts the claims of a sample on the screen. */

import { bdi, byId, element, say, setText } from "../base/dom.js";
import { claimOrder, toUtf16 } from "../base/spans.js";

/** @typedef {{index: number, text: string, start: number|null, end: number|null, dropped: boolean, from: number[], carries: string}} Claim */

/** Claims that are there, in the order of the answer. @param {Claim[]} claims @returns {Claim[]} */
export const inOrder = (claims) => claimOrder(claims.filter((claim) => !claim.dropped)).map((index) => claims[index]);

/** One notice at a time; "" takes it away. */
export function notify(text) {
  byId("notice").hidden = !text;
  setText("notice-text", text);
}

/** @param {"saved"|"saving"|"waiting"|"logged_out"|""} state */
export function drawSaveState(state) {
  byId("save-state").dataset.shown = state.replace("_", "-");
  setText("save-text", state ? say(state) : "");
  byId("log-in").hidden = state !== "logged_out";
}

/**
 * The answer with its claims marked, and the passage that is being chosen.
 * @param {string} answer @param {Claim[]} claims  in order @param {number|null} current
 * @param {{start: number, end: number}|null} picked  UTF-16
 */
export function drawAnswer(answer, claims, current, picked) {
  const numbers = new Map(claims.map((claim, place) => [claim.index, place + 1]));
  const placed = claims.filter((claim) => claim.start !== null).map(({ index, start, end }) => ({ id: index, start, end }));
  const points = placed.flatMap(({ start, end }) => [start, end]);
  const units = toUtf16(answer, points);
  const cuts = new Set([0, answer.length, ...units, ...(picked ? [picked.start, picked.end] : [])]);
  const edges = [...cuts].sort((a, b) => a - b);
  const spans = placed.map(({ id }, i) => ({ id, start: units[2 * i], end: units[2 * i + 1] })).sort((a, b) => a.end - a.start - (b.end - b.start));
  const parts = edges.slice(0, -1).map((from, i) => {
    const text = answer.slice(from, edges[i + 1]);
    const here = spans.filter((span) => span.start <= from && from < span.end);
    const isPicked = picked !== null && picked.start <= from && from < picked.end;
    if (!here.length && !isPicked) return document.createTextNode(text);
    const mark = element("mark", { className: "ce-mark", text, data: { indices: here.map((span) => span.id).join(" ") } });
    const begins = here.filter((span) => span.start === from).map((span) => numbers.get(span.id)).sort((a, b) => a - b);
    // Drawn by the style sheet, so that the text of the answer stays the answer.
    if (begins.length) mark.dataset.number = begins.join(" ");
    mark.classList.toggle("current", here.some((span) => span.id === current));
    mark.classList.toggle("picked", isPicked);
    return mark;
  });
  byId("answer").replaceChildren(element("bdi", { children: parts }));
  (byId("answer").querySelector(".picked") ?? byId("answer").querySelector(".current"))?.scrollIntoView({ block: "nearest" });
}

/** @param {Claim[]} claims  in order @param {number|null} current @param {boolean} quiet  without buttons @param {HTMLElement|null} mode  what stands in the row in hand */
export function drawClaims(claims, current, quiet, mode) {
  byId("no-claims").hidden = claims.length > 0;
  byId("claims").replaceChildren(...claims.map((claim, place) => row(claim, place, claims, claim.index === current, quiet, mode)));
}

function row(claim, place, claims, isCurrent, quiet, mode) {
  const number = element("span", { className: "unit-number", text: String(place + 1) });
  const notes = [claim.start === null ? say("no_place") : "", claim.carries ? say("carries", { what: claim.carries }) : ""].filter(Boolean);
  const text = isCurrent && mode ? mode : element("p", { className: "text", children: [number, " ", bdi(claim.text)] });
  const children = [text];
  if (notes.length) children.push(element("p", { className: "small muted", text: notes.join(" · ") }));
  const isLast = claims.at(-1) === claim;
  if (isCurrent && !quiet) children.push(actions(claim, isLast));
  const box = element("div", { className: "ce-claim", tabIndex: isCurrent ? 0 : -1, data: { index: claim.index }, children });
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${say("claim_of", { n: place + 1, of: claims.length })}: ${claim.text}`);
  if (isCurrent) box.setAttribute("aria-current", "true");
  return element("li", { children: [box] });
}

function actions(claim, isLast) {
  const names = claim.carries ? [] : ["split", ...(isLast ? [] : ["merge"]), "edit", "move", "drop"];
  return element("div", { className: "cluster ce-actions", children: names.map((name) => actionButton(name)) });
}

/** A button that does what its key does; the template has its words. */
export function actionButton(name) {
  return byId("buttons").content.querySelector(`[data-name="${name}"]`).cloneNode(true);
}

/** @param {Claim[]} all @param {boolean} fixed */
export function drawDropped(all, fixed) {
  const gone = all.filter((claim) => claim.dropped).reverse();
  // What went without a trace is what one wants back.
  const isPart = (claim) => all.some((other) => !other.dropped && other.from.includes(claim.index));
  gone.sort((a, b) => Number(isPart(a)) - Number(isPart(b)));
  byId("dropped-box").hidden = !gone.length;
  setText("dropped-count", String(gone.length));
  byId("dropped").replaceChildren(...gone.map((claim) => droppedRow(claim, all, fixed)));
}

function droppedRow(claim, all, fixed) {
  const children = [element("p", { className: "text", children: [bdi(claim.text)] })];
  const made = inOrder(all).flatMap((other, place) => (other.from.includes(claim.index) ? [place + 1] : []));
  if (made.length) children.push(element("p", { className: "small muted", text: say("became", { n: made.join(", ") }) }));
  if (!fixed) {
    const button = actionButton("restore");
    button.dataset.index = String(claim.index);
    children.push(button);
  }
  return element("li", { children });
}

/** @param {{revision: number, change: {op: string}, who: string|null, when: string}[]} history */
export function drawHistory(history) {
  byId("history-box").hidden = !history.length;
  const language = document.documentElement.lang;
  const when = (text) => new Date(text).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
  byId("history").replaceChildren(
    ...history.map(({ change, who, when: at }) => {
      const what = element("span", { text: say(`did_${change.op}`) });
      return element("li", { children: who === null ? [what] : [what, " · ", bdi(who), " · ", element("time", { dateTime: at, text: when(at) })] });
    }),
  );
}

/** The claim's words with the cut among them; a click on a word puts it before that word. @param {string} text @param {number[]} cuts @param {number} at */
export function splitBox(text, cuts, at) {
  const edges = [0, ...cuts, text.length];
  const words = edges.slice(0, -1).flatMap((from, i) => {
    const word = element("span", { text: text.slice(from, edges[i + 1]), data: i ? { cut: i - 1 } : {} });
    return i === at + 1 ? [element("span", { className: "ce-cut", ariaHidden: "true" }), word] : [word];
  });
  const buttons = ["left", "right", "confirm_split", "cancel"].map(actionButton);
  return element("div", {
    className: "ce-mode",
    children: [
      element("p", { className: "text", children: [element("bdi", { children: words })] }),
      element("p", { className: "small muted", text: say("split_hint") }),
      element("div", { className: "cluster", children: buttons }),
    ],
  });
}

/** @param {{words: string, problem: string, isSaving: boolean}} mode */
export function textBox({ words, problem, isSaving }) {
  const field = element("textarea", { value: words, rows: 3, maxLength: 10_000, id: "claim-text", autocomplete: "off", readOnly: isSaving });
  const refused = element("p", { className: "errorlist", id: "claim-problem", text: problem, hidden: !problem });
  refused.setAttribute("role", "alert");
  if (problem) field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", "claim-problem");
  const buttons = ["confirm_text", "cancel"].map(actionButton);
  for (const button of buttons) button.disabled = isSaving;
  return element("div", {
    className: "ce-mode",
    children: [element("label", { htmlFor: "claim-text", text: say("claim_text") }), field, refused, element("div", { className: "cluster", children: buttons })],
  });
}

/** What is selected in the answer, in UTF-16 offsets, or null. @returns {{start: number, end: number}|null} */
export function selectedInAnswer() {
  const selection = getSelection();
  const answer = byId("answer");
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!answer.contains(range.startContainer) || !answer.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(answer);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  return { start, end: start + range.toString().length };
}
