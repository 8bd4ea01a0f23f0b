/** Evidence: what in the contexts speaks for or against the unit in hand. Attached to a label, listed below the decision. */

import { announce } from "../base/announce.js";
import { bdi, byId, element, say } from "../base/dom.js";
import { lanesOf, placeOf, spanAt } from "../base/spans.js";
import { paint } from "./highlights.js";
import { rangeOf, reveal } from "./places.js";
import { notify, unitName } from "./render.js";
import { isDone } from "./steps.js";

/** @typedef {import("../base/spans.js").Span} Span @typedef {import("../base/spans.js").Place} Place */

const KINDS = new Set(["claim", "fact", "entity", "answer"]);
const LANES = 3;
const MOST = 100;
const SHORT = 80;

export class Evidence {
  /** Where a stored span stands now; null when its words are gone. @type {WeakMap<Span, Place|null>} */ #places = new WeakMap();
  /** The spans that the list shows. @type {Span[]} */ #listed = [];

  /** @param {import("./texts.js").Texts} texts */
  constructor(texts) {
    this.texts = texts;
    byId("evidence").addEventListener("click", (event) => this.#onClick(event));
  }

  get #workspace() {
    return this.texts.workspace;
  }

  /** Whether the step in hand can have evidence. */
  get possible() {
    const { task, step } = this.#workspace;
    return task !== null && KINDS.has(step.kind) && this.texts.contexts.length > 0;
  }

  /** The spans of the step in hand. @returns {Span[]} */
  get spans() {
    return this.#workspace.labels.get(this.#workspace.step.key)?.evidence ?? [];
  }

  /** @param {Span} span @returns {Place|null} */
  place(span) {
    if (!this.#places.has(span)) {
      const text = this.texts.contexts[span.context]?.text;
      this.#places.set(span, text === undefined ? null : placeOf(text, span));
    }
    return this.#places.get(span);
  }

  /** The places of the spans, without those whose words are gone. @param {Span[]} spans @returns {Place[]} */
  places(spans) {
    return spans.map((span) => this.place(span)).filter((place) => place !== null);
  }

  /** @param {Place[]} places @returns {Range[]} */
  ranges(places) {
    return places.map(({ context, start, end }) => rangeOf(this.texts.contexts[context].element, start, end));
  }

  /** All spans said about a unit, on whatever criterion. @param {string} unit @returns {Span[]} */
  ofUnit(unit) {
    return [...this.#workspace.labels.values()].filter((label) => label.unit === unit).flatMap((label) => label.evidence);
  }

  // --- changing ---

  /** @param {Place[]} places */
  attach(places) {
    const there = new Set(this.places(this.spans).map(name));
    const added = places.filter((place) => !there.has(name(place))).map((place) => spanAt(this.texts.contexts[place.context].text, place));
    if (this.spans.length + added.length > MOST) return notify(say("evidence_full", { most: MOST }));
    if (added.length) {
      this.#say([...this.spans, ...added].sort(byPlace));
      const list = byId("evidence");
      const item = list.children[this.#listed.indexOf(added.at(-1))];
      if (item) list.scrollTop = item.offsetTop - list.offsetTop;
    }
    announce(say("evidence_attached", { n: this.spans.length }));
  }

  /** @param {Span[]} spans */
  remove(spans) {
    this.#say(this.spans.filter((span) => !spans.includes(span)));
    announce(say("evidence_removed", { n: this.spans.length }));
  }

  #say(evidence) {
    this.#workspace.say(this.#workspace.step, { evidence });
  }

  // --- showing ---

  draw() {
    byId("evidence-block").hidden = !this.possible;
    const spans = this.possible ? this.spans : [];
    byId("evidence-when").hidden = !this.possible || spans.length > 0 || isDone(this.#workspace.labels.get(this.#workspace.step.key));
    this.#drawList(spans);
    this.#paint(spans);
  }

  #drawList(spans) {
    if (spans.length === this.#listed.length && spans.every((span, i) => span === this.#listed[i])) return;
    const focused = [...byId("evidence").children].findIndex((item) => item.contains(document.activeElement));
    this.#listed = spans;
    byId("evidence-count").textContent = spans.length || "";
    byId("evidence").replaceChildren(...spans.map((span) => this.#item(span)));
    if (focused < 0) return;
    const item = byId("evidence").children[Math.min(focused, spans.length - 1)];
    (item?.querySelector(".evidence-remove") ?? byId("evidence-start")).focus();
  }

  #item(span) {
    const where = say("unit_context", { n: span.context + 1 });
    const gone = this.place(span) === null;
    const quote = shortened(span.quote);
    const place = element("span", { className: "evidence-where", text: gone ? say("evidence_gone", { where }) : where });
    const children = [place, " ", element("q", { children: [bdi(quote)] })];
    const go = element("button", { type: "button", className: "evidence-go", disabled: gone, children });
    const ariaLabel = say("evidence_take_away_which", { where, quote });
    const remove = element("button", { type: "button", className: "evidence-remove", text: "×", title: say("evidence_take_away"), ariaLabel });
    return element("li", { className: gone ? "evidence-item evidence-gone" : "evidence-item", children: [go, remove] });
  }

  #onClick(event) {
    const item = event.target.closest("li");
    const span = this.#listed[[...byId("evidence").children].indexOf(item)];
    if (!span) return;
    if (event.target.closest(".evidence-remove")) this.remove([span]);
    else if (this.place(span)) reveal(this.ranges([this.place(span)])[0]);
  }

  /** The span that a list item shows. @param {Element} item @returns {Span|undefined} */
  listed(item) {
    return this.#listed[[...byId("evidence").children].indexOf(item)];
  }

  #paint(spans) {
    const places = this.places(spans);
    const lanes = lanesOf(places, LANES);
    for (let lane = 0; lane < LANES; lane += 1) paint(`evidence-${lane}`, this.ranges(places.filter((_, i) => lanes[i] === lane)));
    const others = this.possible ? this.ofUnit(this.#workspace.step.unit).filter((span) => !spans.includes(span)) : [];
    paint("evidence-soft", this.ranges(this.places(others)));
  }

  /** What the button says on which the words are attached. */
  get offer() {
    return say("evidence_attach_to", { unit: unitName(this.#workspace.step) });
  }
}

const name = ({ context, start, end }) => `${context}:${start}-${end}`;
const byPlace = (a, b) => a.context - b.context || a.start - b.start || a.end - b.end;

function shortened(quote) {
  const letters = [...quote.slice(0, 4 * SHORT)];
  return letters.length > SHORT ? `${letters.slice(0, SHORT).join("").trimEnd()}…` : quote;
}
