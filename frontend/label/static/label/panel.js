/** The guidelines beside the work: they stay open while one labels, until one closes them. */

const panel = document.getElementById("guidelines-panel");
const text = panel.querySelector(".prose");
const button = document.getElementById("guidelines");

export function toggleGuidelines() {
  const opens = panel.hidden;
  const hadFocus = panel.contains(document.activeElement);
  panel.hidden = !opens;
  button.setAttribute("aria-expanded", String(opens));
  if (opens) text.focus({ preventScroll: true });
  else if (hadFocus) button.focus();
}

/** The guidelines, while one is in them: keys that scroll mean them then. @returns {HTMLElement|null} */
export const guidelinesInHand = () => (panel.contains(document.activeElement) ? text : null);

/** Called once. */
export function bindGuidelines() {
  button.addEventListener("click", toggleGuidelines);
  document.getElementById("close-guidelines").addEventListener("click", toggleGuidelines);
  panel.addEventListener("keydown", (event) => event.key === "Escape" && toggleGuidelines());
}
