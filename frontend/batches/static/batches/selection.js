/**
 * What is ticked in a list that has several pages. It is kept in the tab while the list shows the same filter, sent with
 * the ticks of the page, and forgotten once a batch was made of it. Without this module the ticks of one page are sent.
 */

import "../base/tick-all.js";

/** @typedef {{ matching: string, ticked: string[] }} Kept */

/** @type {HTMLFormElement | null} */
const list = document.querySelector("form[data-selection]");
if (list) keepTicks(list);

/** @type {HTMLFormElement | null} */
const made = document.querySelector("form[data-selection-made]");
made?.addEventListener("submit", () => sessionStorage.removeItem(nameOf(made.dataset.selectionMade)));

/** @param {string | undefined} of */
function nameOf(of) {
  return `selection:${of}`;
}

/** @param {HTMLFormElement} form */
function keepTicks(form) {
  const name = nameOf(form.dataset.selection);
  const matching = /** @type {HTMLInputElement} */ (form.elements.namedItem("matching")).value;
  /** @type {HTMLInputElement[]} */
  const boxes = [...form.querySelectorAll("tbody .tick input")];
  /** @type {HTMLElement} */
  const bar = form.querySelector("[data-selected]");
  const ticked = new Set(kept());

  /** @returns {string[]} */
  function kept() {
    /** @type {Kept | null} */
    const found = JSON.parse(sessionStorage.getItem(name) ?? "null");
    return found?.matching === matching ? found.ticked : [];
  }

  function show() {
    bar.hidden = ticked.size === 0;
    bar.querySelector("[role=status]").textContent = bar.dataset.selected.replace("{n}", String(ticked.size));
  }

  function keep() {
    if (ticked.size) sessionStorage.setItem(name, JSON.stringify({ matching, ticked: [...ticked] }));
    else sessionStorage.removeItem(name);
    show();
  }

  function tickBoxes() {
    for (const box of boxes) box.checked = ticked.has(box.value);
    // The box in the head follows.
    boxes[0]?.dispatchEvent(new Event("change"));
  }

  form.addEventListener("change", ({ target }) => {
    const box = boxes.find((one) => one === target);
    if (!box) return;
    if (box.checked) ticked.add(box.value);
    else ticked.delete(box.value);
    keep();
  });
  bar.querySelector("button").addEventListener("click", () => {
    ticked.clear();
    tickBoxes();
    keep();
  });
  form.addEventListener("formdata", ({ formData }) => {
    const here = new Set(boxes.map((box) => box.value));
    const elsewhere = [...ticked].filter((value) => !here.has(value));
    if (elsewhere.length) formData.append(boxes[0].name, elsewhere.join(" "));
  });
  tickBoxes();
  show();
}
