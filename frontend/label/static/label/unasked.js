/**
 * Dialogs that open by themselves, because of what the server said. The annotator didn't ask for them and
 * doesn't look at them yet: the keys on their way are meant for the task.
 *
 * So they wait until nothing is being typed and no other dialog is open; the focus goes to the heading and not to a button; and for
 * a moment keys do nothing, nor does a key that is still held down.
 */

const UNSEEN_MS = 500;

const writes = (element) => element?.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const areHandsFree = () => !document.querySelector("dialog[open]") && !writes(document.activeElement);

/** @type {Promise<unknown>} */ let line = Promise.resolve();
let timer = 0;

/** One dialog after the other. @param {() => Promise<unknown>} show */
export function showUnasked(show) {
  line = line.then(handsFree).then(show);
  return line;
}

/** @returns {Promise<void>} */
function handsFree() {
  if (areHandsFree()) return Promise.resolve();
  return new Promise((resolve) => {
    // Told before the focus is where it goes, and before a dialog that opens next is open.
    const look = () => setTimeout(() => {
      if (!areHandsFree()) return;
      document.removeEventListener("focusout", look, true);
      document.removeEventListener("close", look, true);
      resolve();
    });
    document.addEventListener("focusout", look, true);
    document.addEventListener("close", look, true);
  });
}

/** Called when it is opened. @param {HTMLDialogElement} dialog  its heading has `autofocus` */
export function guardUnasked(dialog) {
  const seen = () => delete dialog.dataset.unseen;
  clearTimeout(timer);
  timer = setTimeout(seen, UNSEEN_MS);
  dialog.dataset.unseen = "";
  const hold = (event) => {
    if (!event.repeat && dialog.dataset.unseen === undefined) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const ended = () => {
    // The event of an earlier closing, told late: it is open again.
    if (dialog.open) return;
    dialog.removeEventListener("keydown", hold, true);
    dialog.removeEventListener("close", ended);
  };
  dialog.addEventListener("keydown", hold, true);
  dialog.addEventListener("close", ended);
}
