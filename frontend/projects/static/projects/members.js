/** A button that copies the text of a field beside it. Without this module, or without permission, the field is there to copy from. */

import { byId } from "../base/dom.js";

for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = byId(button.dataset.copy);
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = button.dataset.copied;
    } catch {
      field.select();
    }
  });
}
