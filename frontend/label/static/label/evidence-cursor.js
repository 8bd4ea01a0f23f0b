/**
 * Evidence by keyboard: a cursor that goes from sentence to sentence through the contexts. While it is out, the bar over
 * the contexts has the focus and says which keys work; whatever takes the focus elsewhere ends it.
 */

import { announce } from "../base/announce.js";
import { byId, say } from "../base/dom.js";
import { paint } from "./highlights.js";
import { firstInSight, inSight, rangeOf, reveal } from "./places.js";
import { unitName } from "./render.js";
import { Sentences } from "./sentences.js";

/** @typedef {import("../base/spans.js").Place} Place @typedef {import("./sentences.js").Sentence} Sentence */

const overlap = (a, b) => a.context === b.context && a.start < b.end && b.start < a.end;

export class EvidenceCursor {
  #context = 0;
  /** Where the range was begun, and its moving end. @type {Sentence|null} */ #anchor = null;
  /** @type {Sentence|null} */ #head = null;
  /** The cursor's last place in this task, to go on from. @type {Place|null} */ #left = null;
  #before = null;

  /** @param {import("./texts.js").Texts} texts */
  constructor(texts) {
    this.texts = texts;
    this.bar = byId("evidence-cursor");
    this.bar.addEventListener("keydown", (event) => this.#onKey(event));
    // Another window in front is no reason to leave.
    this.bar.addEventListener("focusout", () => document.hasFocus() && this.leave());
  }

  get isOut() {
    return !this.bar.hidden;
  }

  /** Another task. */
  forget() {
    if (this.isOut) this.leave();
    this.#left = null;
  }

  enter() {
    if (this.isOut || !this.texts.evidence.possible) return;
    if (!this.#start()) return;
    this.#before = document.activeElement;
    byId("evidence-cursor-title").textContent = say("evidence_for", { unit: unitName(this.texts.workspace.step) });
    this.bar.hidden = false;
    this.texts.arrangeBar();
    this.bar.focus({ preventScroll: true });
    this.#show(true);
  }

  /** @param {boolean} [back] gives the focus back */
  leave(back = false) {
    if (!this.isOut) return;
    const hadFocus = document.activeElement === this.bar;
    this.#left = this.#place;
    this.bar.hidden = true;
    paint("cursor", []);
    this.texts.arrangeBar();
    if (back && this.#before?.isConnected && this.#before !== document.body) this.#before.focus({ preventScroll: true });
    else if (hadFocus) this.bar.blur();
  }

  /** @returns {Place|null} */
  get #place() {
    if (!this.#head) return null;
    return { context: this.#context, start: Math.min(this.#anchor.start, this.#head.start), end: Math.max(this.#anchor.end, this.#head.end) };
  }

  #sentences(context) {
    const { text, begins } = this.texts.contexts[context];
    return (this.texts.contexts[context].sentences ??= new Sentences(text, begins, document.documentElement.lang));
  }

  /** Where to begin next time, if it is in sight then. @param {Place|null} place */
  resumeAt(place) {
    this.#left = place ?? this.#left;
  }

  /** Begins where it was left or the search ended, else at what is attached, else at the first sentence; of what is in sight. */
  #start() {
    const { evidence } = this.texts;
    const places = [this.#left, ...evidence.places(evidence.spans)].filter((place) => place !== null);
    const first = places.find((place) => inSight(evidence.ranges([place])[0]));
    if (first) return this.#goTo(first.context, this.#sentences(first.context).at(first.start));
    const seen = Math.max(0, this.texts.contexts.findIndex(({ element, text }) => text && inSight(element)));
    const offset = firstInSight(this.texts.contexts[seen].element) ?? 0;
    return this.#goTo(seen, this.#sentences(seen).at(offset)) || this.#enterContext(0, 1);
  }

  #goTo(context, sentence) {
    if (!sentence) return false;
    this.#context = context;
    this.#anchor = this.#head = sentence;
    return true;
  }

  // --- keys ---

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { shiftKey } = event;
    const acts = {
      ArrowDown: () => (shiftKey ? this.#extend(1) : this.#move(1)),
      ArrowUp: () => (shiftKey ? this.#extend(-1) : this.#move(-1)),
      ArrowRight: () => this.#toContext(1),
      ArrowLeft: () => this.#toContext(-1),
      Enter: () => !event.repeat && this.#toggle(),
      " ": () => !event.repeat && this.#toggle(),
      Escape: () => this.leave(true),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #beside(context, sentence, direction) {
    return direction > 0 ? this.#sentences(context).after(sentence.end) : this.#sentences(context).before(sentence.start);
  }

  #move(direction) {
    const next = this.#beside(this.#context, this.#head, direction);
    if (next) this.#goTo(this.#context, next);
    else if (!this.#enterContext(this.#context + direction, direction)) return;
    else return this.#show(true);
    this.#show(false);
  }

  /** Into the next context that has a sentence: at its first one, or coming from below at its last one. */
  #enterContext(context, direction) {
    for (; this.texts.contexts[context]; context += direction) {
      if (this.#goTo(context, direction > 0 ? this.#sentences(context).after(0) : this.#sentences(context).before(Infinity))) return true;
    }
    return false;
  }

  #toContext(direction) {
    for (let context = this.#context + direction; this.texts.contexts[context]; context += direction) {
      if (this.#goTo(context, this.#sentences(context).after(0))) return this.#show(true);
    }
  }

  #extend(direction) {
    const next = this.#beside(this.#context, this.#head, direction);
    if (!next) return;
    this.#head = next;
    this.#show(false);
  }

  /** Attaches; with a single sentence on what is attached already, takes that away. */
  #toggle() {
    const { evidence } = this.texts;
    const place = this.#place;
    const same = (other) => other.context === place.context && other.start === place.start && other.end === place.end;
    const extended = this.#anchor !== this.#head;
    const under = evidence.spans.filter((span) => {
      const other = evidence.place(span);
      return other && (extended ? same(other) : overlap(other, place));
    });
    if (under.length) evidence.remove(under);
    else evidence.attach([place]);
  }

  // --- showing ---

  /** After the text nodes changed. */
  repaint() {
    if (this.isOut) this.#show(false, false);
  }

  #show(withContext, aloud = true) {
    const place = this.#place;
    const { element, text } = this.texts.contexts[place.context];
    paint("cursor", [rangeOf(element, place.start, place.end)]);
    reveal(rangeOf(element, this.#head.start, this.#head.end));
    if (!aloud) return;
    const words = text.slice(place.start, place.end);
    const attached = this.texts.evidence.places(this.texts.evidence.spans).some((other) => overlap(other, place));
    const parts = [withContext ? say("unit_context", { n: place.context + 1 }) : "", words, attached ? say("evidence_is_attached") : ""];
    announce(parts.filter(Boolean).join(" – "));
  }
}
