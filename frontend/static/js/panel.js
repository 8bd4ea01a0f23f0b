/** The guidelines beside the work: they stay open while one labels, until one closes them. */

const panel = document.getElementById("guidelines-panel");
const button = document.getElementById("guidelines");

export function toggleGuidelines() {
  const opens = panel.hidden;
  const hadFocus = panel.contains(document.activeElement);
  panel.hidden = !opens;
  button.setAttribute("aria-expanded", String(opens));
  if (opens) panel.focus({ preventScroll: true });
  else if (hadFocus) button.focus();
}

/** Called once. */
export function bindGuidelines() {
  button.addEventListener("click", toggleGuidelines);
  document.getElementById("close-guidelines").addEventListener("click", toggleGuidelines);
  panel.addEventListener("keydown", (event) => event.key === "Escape" && toggleGuidelines());
}
