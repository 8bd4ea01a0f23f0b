/** The form of a judge: fields that apply, rows to add, and what can be put into a prompt, put in by a click, where the cursor stands. Without this module the names are there to type. */

import { byId } from "../base/dom.js";
import "../base/form-rows.js";
import "../base/reveal.js";

for (const list of document.querySelectorAll("[data-inserts]")) {
  const prompt = byId(list.dataset.inserts);
  const said = list.querySelector("[data-said]");
  for (const plain of list.querySelectorAll("[data-plain]")) plain.hidden = true;
  for (const button of list.querySelectorAll("[data-insert]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      prompt.setRangeText(button.dataset.insert, prompt.selectionStart, prompt.selectionEnd, "end");
      prompt.dispatchEvent(new Event("input", { bubbles: true }));
      said.textContent = button.dataset.inserted;
      prompt.focus();
    });
  }
}
