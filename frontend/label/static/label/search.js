/** Search in the contexts: a field over them, every hit coloured, one of them in hand. */

import { byId, say } from "../base/dom.js";
import { findAll, fold } from "./fold.js";
import { paint } from "./highlights.js";
import { lastUpTo, nearby, rangeOf, reveal } from "./places.js";

/** @typedef {import("./texts.js").Context} Context */

export class Search {
  /** @type {Context[]} */ #contexts = [];
  /** Per context its hits. @type {{start: number, end: number}[][]} */ #hits = [];
  #count = 0;
  /** The hit in hand, counted through all contexts. */ #at = -1;
  #query = "";
  /** Who had the focus before. @type {Element|null} */ #before = null;
  #painting = false;

  /** @param {{opened(): void, closed(place: import("../base/spans.js").Place|null): void}} on  `place`: of the hit in hand */
  constructor(on) {
    this.on = on;
    byId("search").addEventListener("submit", (event) => event.preventDefault());
    byId("search-words").addEventListener("input", () => this.#look());
    byId("search-words").addEventListener("keydown", (event) => this.#onKey(event));
    byId("search-next").addEventListener("click", () => this.step(1));
    byId("search-previous").addEventListener("click", () => this.step(-1));
    byId("search-close").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "F3" || !this.isOpen) return;
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    });
    document.addEventListener("scroll", () => this.isOpen && this.#paintLater(), { capture: true, passive: true });
  }

  get isOpen() {
    return !byId("search").hidden;
  }

  /** The hit in hand. @returns {import("../base/spans.js").Place|null} */
  get place() {
    let rest = this.#at;
    for (const [context, hits] of this.#hits.entries()) {
      if (rest >= 0 && rest < hits.length) return { context, ...hits[rest] };
      rest -= hits.length;
    }
    return null;
  }

  /** @param {Context[]} contexts of another task */
  start(contexts) {
    this.#contexts = contexts;
    this.#forget();
    byId("search-words").value = "";
    if (this.isOpen) this.close();
  }

  open() {
    const words = byId("search-words");
    if (!this.isOpen) {
      this.#before = document.activeElement;
      byId("search").hidden = false;
      this.on.opened();
      this.#look();
    }
    words.focus();
    words.select();
  }

  /** Gives the focus back, unless it was moved elsewhere. */
  close() {
    const hadFocus = byId("search").contains(document.activeElement);
    byId("search").hidden = true;
    paint("search", []);
    paint("search-current", []);
    this.on.closed(this.place);
    if (!hadFocus) return;
    if (this.#before?.isConnected && this.#before !== document.body) this.#before.focus({ preventScroll: true });
    else document.activeElement.blur();
  }

  /** After the text nodes changed. */
  repaint() {
    if (this.isOpen) this.#paint();
  }

  /** @param {1|-1} direction */
  step(direction) {
    if (!this.#count) return;
    this.#at = (this.#at + direction + this.#count) % this.#count;
    this.#show();
  }

  #onKey(event) {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") this.close();
    else this.step(event.shiftKey ? -1 : 1);
  }

  #forget() {
    this.#hits = [];
    this.#count = 0;
    this.#at = -1;
    this.#query = "";
  }

  /** Every hit is found and counted; only those near are coloured. */
  #look() {
    const query = byId("search-words").value;
    // Going on with a word goes on from the hit in hand.
    const from = query.startsWith(this.#query) ? this.place : null;
    this.#forget();
    this.#query = query;
    this.#hits = this.#contexts.map((context) => findAll((context.folded ??= fold(context.text)), query));
    this.#count = this.#hits.reduce((sum, hits) => sum + hits.length, 0);
    if (this.#count) this.#at = from ? this.#firstFrom(from) : 0;
    this.#show();
  }

  #firstFrom({ context, start }) {
    const before = this.#hits.slice(0, context).reduce((sum, hits) => sum + hits.length, 0);
    const here = this.#hits[context].findIndex((hit) => hit.start >= start);
    return (before + (here < 0 ? this.#hits[context].length : here)) % this.#count;
  }

  #show() {
    const found = say("search_count", { n: this.#at + 1, count: this.#count });
    byId("search-count").textContent = this.#count ? found : this.#query.trim() ? say("search_none") : "";
    byId("search").classList.toggle("search-none", !this.#count && this.#query !== "");
    for (const id of ["search-next", "search-previous"]) byId(id).disabled = !this.#count;
    const place = this.place;
    if (place) reveal(rangeOf(this.#contexts[place.context].element, place.start, place.end));
    this.#paint();
  }

  #paintLater() {
    if (this.#painting) return;
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      this.repaint();
    });
  }

  #paint() {
    const ranges = this.#contexts.flatMap((context, i) => (this.#hits[i]?.length ? this.#nearIn(context, this.#hits[i]) : []));
    paint("search", ranges);
    const place = this.place;
    paint("search-current", place ? [rangeOf(this.#contexts[place.context].element, place.start, place.end)] : []);
  }

  /** @param {Context} context @param {{start: number, end: number}[]} hits */
  #nearIn({ element, begins, text }, hits) {
    const starts = hits.map((hit) => hit.start);
    const near = new Set(nearby([...element.children]));
    return [...element.children].flatMap((piece, i) => {
      if (!near.has(piece)) return [];
      const first = lastUpTo(starts, begins[i] - 1) + 1;
      const last = lastUpTo(starts, (begins[i + 1] ?? text.length) - 1);
      return hits.slice(first, last + 1).map(({ start, end }) => rangeOf(element, start, end));
    });
  }
}
