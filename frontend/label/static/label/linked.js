/** What belongs together lights up together: a unit and its evidence in the contexts, whichever of them is pointed at. */

import { byId } from "../base/dom.js";
import { paint } from "./highlights.js";
import { caretAt, offsetIn } from "./places.js";

export class Linked {
  /** What is lit, so that a mouse that moves on the same thing paints nothing. */ #lit = "";
  #asked = false;

  /** @param {import("./texts.js").Texts} texts */
  constructor(texts) {
    this.texts = texts;
    for (const [enters, leaves] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      byId("work").addEventListener(enters, (event) => this.#onTarget(event.target));
      byId("work").addEventListener(leaves, (event) => !byId("work").contains(event.relatedTarget) && this.#light("", []));
    }
    byId("contexts").addEventListener("pointermove", (event) => this.#onMove(event));
  }

  /** Another task or another step. */
  forget() {
    this.#light("", []);
  }

  #onTarget(target) {
    const { evidence } = this.texts;
    // Over the contexts it is the place that counts, see #onMove.
    if (target.closest("#contexts .text")) return;
    const item = target.closest("#evidence li");
    if (item) {
      const span = evidence.listed(item);
      if (span) this.#light(`span ${span.context} ${span.start} ${span.end}`, [...this.#unitRanges(this.texts.workspace.step?.unit), ...evidence.ranges(evidence.places([span]))]);
      return;
    }
    const marked = target.closest("[data-units], .step[data-unit]");
    const units = (marked?.dataset.units ?? marked?.dataset.unit ?? "").split(" ").filter(Boolean);
    this.#light(units.join(" "), units.flatMap((unit) => evidence.ranges(evidence.places(evidence.ofUnit(unit)))));
  }

  #onMove({ clientX, clientY, buttons }) {
    if (this.#asked || buttons) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#atPoint(clientX, clientY);
    });
  }

  #atPoint(x, y) {
    const { evidence, contexts, workspace } = this.texts;
    if (![...workspace.labels.values()].some((label) => label.evidence.length)) return;
    const caret = caretAt(x, y);
    const context = contexts.findIndex(({ element }) => caret && element.contains(caret.node));
    if (context < 0) return this.#light("", []);
    const offset = offsetIn(contexts[context].element, caret.node, caret.offset);
    const here = (place) => place.context === context && place.start <= offset && offset < place.end;
    const units = new Set();
    const places = [];
    for (const label of workspace.labels.values()) {
      const under = evidence.places(label.evidence).filter(here);
      if (under.length) units.add(label.unit);
      places.push(...under);
    }
    const key = [...units, ...places.map((place) => `${place.start}-${place.end}`)].join(" ");
    if (key !== this.#lit) this.#light(key, [...evidence.ranges(places), ...[...units].flatMap((unit) => this.#unitRanges(unit))]);
  }

  /** The words of a unit where it stands, in the answer or in a list. */
  #unitRanges(unit) {
    const elements = unit === "answer" ? [byId("answer")] : document.querySelectorAll(`#work [data-units~="${unit}"]`);
    return Array.from(elements, (element) => {
      const range = new Range();
      range.selectNodeContents(element);
      return range;
    });
  }

  #light(key, ranges) {
    if (key === this.#lit) return;
    this.#lit = key;
    paint("linked", ranges);
  }
}
