/** Evidence by mouse and by touch: words selected in a context, and a button beside them that attaches them. */

import { byId } from "../base/dom.js";
import { selectedIn } from "./places.js";

const GAP = 8;

export class Selected {
  #pressed = false;
  #asked = false;

  /** @param {import("./texts.js").Texts} texts */
  constructor(texts) {
    this.texts = texts;
    this.button = byId("attach");
    // Pressing the button must not take the selection away before it is read.
    this.button.addEventListener("pointerdown", (event) => event.preventDefault());
    this.button.addEventListener("click", () => this.attach());
    document.addEventListener("selectionchange", () => this.#later());
    document.addEventListener("pointerdown", () => (this.#pressed = true));
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => ((this.#pressed = false), this.#later()));
    document.addEventListener("scroll", () => this.#later(), { capture: true, passive: true });
    document.addEventListener("keydown", (event) => event.key === "Escape" && !this.button.hidden && getSelection().removeAllRanges());
  }

  /** Attaches what is selected, if anything is. @returns {boolean} */
  attach() {
    if (!this.texts.evidence.possible) return false;
    const places = this.#read();
    if (!places.length) return false;
    this.texts.evidence.attach(places);
    getSelection().removeAllRanges();
    this.update();
    return true;
  }

  #later() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => ((this.#asked = false), this.update()));
  }

  update() {
    // While a mouse still selects, the button would be in its way.
    const places = this.#pressed || !this.texts.evidence.possible ? [] : this.#read();
    this.button.hidden = !places.length;
    if (!places.length) return;
    byId("attach-words").textContent = this.texts.evidence.offer;
    this.#put();
  }

  /** Below the end of the selection, in the window. Where it can't be seen, there is no button either. */
  #put() {
    const lines = getSelection().getRangeAt(0).getClientRects();
    const last = lines[lines.length - 1];
    const column = byId("contexts-column").getBoundingClientRect();
    if (!last || last.bottom < Math.max(0, column.top) || last.top > Math.min(innerHeight, column.bottom)) return void (this.button.hidden = true);
    const { width, height } = this.button.getBoundingClientRect();
    const below = last.bottom + GAP + height <= innerHeight ? last.bottom + GAP : lines[0].top - GAP - height;
    this.button.style.top = `${Math.max(GAP, below)}px`;
    this.button.style.left = `${Math.max(GAP, Math.min(last.right - width / 2, Math.min(innerWidth, column.right) - width - GAP))}px`;
  }

  #read() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return [];
    const selected = selection.getRangeAt(0);
    if (!selected.intersectsNode(byId("contexts"))) return [];
    return this.texts.contexts.flatMap(({ element }, context) => {
      const part = selectedIn(element, selected);
      return part ? [{ context, ...part }] : [];
    });
  }
}
