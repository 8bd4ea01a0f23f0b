/**
 * A threshold to drag, by a slider or in the plot of the sweep, and what comes of it on the dev half. Without this module
 * the figures at the best threshold stay as they are.
 */

import { byId } from "../base/dom.js";

const SVG = "http://www.w3.org/2000/svg";

for (const dial of document.querySelectorAll("[data-dial]")) {
  const name = dial.dataset.dial;
  /** @type {Record<string, (string|number)[]>} of every stop, in the order of the slider */
  const stops = JSON.parse(byId(`${name}-data`).textContent);
  const shown = byId(`${name}-shown`);
  const slider = dial.querySelector("input");
  const back = dial.querySelector("button");
  const said = dial.querySelector("output");
  const best = Number(slider.defaultValue);
  const line = dragLine(name, (stop) => move(stop));

  function show() {
    const stop = slider.valueAsNumber;
    for (const element of shown.querySelectorAll("[data-shown]")) {
      element.textContent = String(stops[element.dataset.shown][stop]);
    }
    shown.querySelector("[data-best]").hidden = stop !== best;
    back.disabled = stop === best;
    line.moveTo(stop);
    const text = dial.dataset.said.replace(/\{(\w+)\}/g, (_, key) => String(stops[key][stop]));
    slider.setAttribute("aria-valuetext", text);
    return text;
  }

  /** Not by the slider itself, whose own value is read out. @param {number} stop */
  function move(stop) {
    if (slider.valueAsNumber === stop) return;
    slider.valueAsNumber = stop;
    said.value = show();
  }

  slider.addEventListener("input", show);
  back.addEventListener("click", () => {
    move(best);
    slider.focus();
  });
  // A browser that came back to this page keeps where the slider was.
  show();
  dial.hidden = false;
}

/**
 * A line in the plot that shows the threshold in hand and can be dragged. Where the thresholds stand is read from the
 * drawing: its line of TPR has a point for each.
 * @param {string} name  of the plot
 * @param {(stop: number) => void} moved  called while the line is dragged
 */
function dragLine(name, moved) {
  const places = points(byId(`${name}-line-tpr`)).map(([x]) => x);
  const chosen = byId(`${name}-chosen`);
  const [[, bottom], [, top]] = points(chosen);
  const svg = chosen.ownerSVGElement;
  const line = document.createElementNS(SVG, "line");
  line.classList.add("drag-line");
  line.setAttribute("y1", String(top));
  line.setAttribute("y2", String(bottom));
  chosen.after(line);
  svg.classList.add("draggable");

  const nearest = (x) => places.reduce((found, place, stop) => (Math.abs(place - x) < Math.abs(places[found] - x) ? stop : found), 0);
  const follow = (event) => moved(nearest(new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x));
  let dragging = false;
  svg.addEventListener("pointerdown", (event) => {
    // A finger scrolls the page and taps.
    if (event.pointerType === "touch" || event.button !== 0) return;
    dragging = true;
    svg.setPointerCapture(event.pointerId);
    follow(event);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragging) follow(event);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (dragging = false));
  svg.addEventListener("click", follow);

  return {
    /** @param {number} stop */
    moveTo(stop) {
      line.setAttribute("x1", String(places[stop]));
      line.setAttribute("x2", String(places[stop]));
    },
  };
}

/** The points of the path in a group. @param {Element} group @returns {number[][]} */
function points(group) {
  const path = group.querySelector("path").getAttribute("d");
  return [...path.matchAll(/[ML] (\S+) (\S+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
}
