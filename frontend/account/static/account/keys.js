/** On the page of one's own keys: a key pressed in a field is the key. Without this module one types it. */

for (const field of document.querySelectorAll("input[data-key]")) {
  field.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Backspace" || event.key === "Delete") {
      event.preventDefault();
      field.value = "";
    } else if (event.key.length === 1 && event.key !== " ") {
      event.preventDefault();
      field.value = event.key.toLowerCase();
    }
  });
  field.addEventListener("focus", () => field.select());
}
