/**
 * Colours words by name without touching the DOM: the CSS Custom Highlight API, and where a browser has none, boxes laid
 * over the words. What each name looks like is in workspace.css.
 */

// What is painted over what.
const LAYERS = ["evidence-soft", "evidence-0", "evidence-1", "evidence-2", "search", "linked", "cursor", "search-current"];
const native = typeof Highlight === "function" && "highlights" in CSS;

/** @param {string} name one of LAYERS @param {Range[]} ranges none: takes the colour away */
export function paint(name, ranges) {
  if (!native) return boxes.paint(name, ranges);
  if (!ranges.length) return void CSS.highlights.delete(name);
  const highlight = new Highlight(...ranges);
  highlight.priority = LAYERS.indexOf(name);
  CSS.highlights.set(name, highlight);
}

export function paintNothing() {
  for (const name of LAYERS) paint(name, []);
}

/** Boxes over those words that are in sight or near it; the rest get theirs when they are scrolled to. */
const boxes = {
  /** @type {Map<string, Range[]>} */ ranges: new Map(),
  asked: false,

  paint(name, ranges) {
    if (!ranges.length && !this.ranges.get(name)?.length) return;
    if (!this.ranges.size) this.watch();
    this.ranges.set(name, ranges);
    this.later();
  },

  watch() {
    addEventListener("scroll", () => this.later(), { capture: true, passive: true });
    const sizes = new ResizeObserver(() => this.later());
    for (const column of document.querySelectorAll(".ws-column")) sizes.observe(column);
  },

  later() {
    if (!this.asked) requestAnimationFrame(() => this.draw());
    this.asked = true;
  },

  draw() {
    this.asked = false;
    for (const layer of document.querySelectorAll(".boxes")) layer.remove();
    for (const name of LAYERS) for (const range of this.ranges.get(name) ?? []) this.cover(name, range);
  },

  cover(name, range) {
    const column = range.startContainer.parentElement?.closest(".ws-column");
    if (!column) return;
    const { top, bottom } = range.getBoundingClientRect();
    if (bottom < -innerHeight || top > 2 * innerHeight) return;
    const layer = column.querySelector(":scope > .boxes") ?? column.appendChild(Object.assign(document.createElement("div"), { className: "boxes", ariaHidden: "true" }));
    const origin = layer.getBoundingClientRect();
    for (const place of range.getClientRects()) {
      const box = Object.assign(document.createElement("i"), { className: `box-${name}` });
      Object.assign(box.style, { left: `${place.left - origin.left}px`, top: `${place.top - origin.top}px`, width: `${place.width}px`, height: `${place.height}px` });
      layer.append(box);
    }
  },
};
