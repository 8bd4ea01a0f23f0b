/** Keys on the adjudication page. Without this module the page is a plain form. */

import { bindKeys, optionKeys } from "./keys.js";

const form = document.querySelector("form[data-adjudicate]");
const reason = form.elements.namedItem("reason");
const radios = [...form.querySelectorAll("input[type=radio]")];
const keys = optionKeys(radios.map(({ dataset }) => ({ label: dataset.label, hotkey: dataset.hotkey || undefined })));
const help = document.getElementById("keys");

radios.forEach((radio, i) => {
  const mark = radio.closest("label").querySelector("kbd");
  mark.textContent = keys[i];
  mark.hidden = !keys[i];
});
for (const extra of document.querySelectorAll("[data-help], [data-hint]")) extra.hidden = false;

function choose(radio) {
  radio.checked = true;
  reason.focus();
}

function follow(rel) {
  document.querySelector(`a[rel=${rel}]`)?.click();
}

const showHelp = () => help.showModal();
document.querySelector("[data-help]").addEventListener("click", showHelp);

bindKeys({
  option: (key) => {
    const at = keys.indexOf(key);
    return at < 0 ? undefined : () => choose(radios[at]);
  },
  actions: { n: () => follow("next"), p: () => follow("prev"), "?": showHelp },
});

reason.addEventListener("keydown", (event) => {
  if (event.key === "Escape") reason.blur();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

// One decision is sent once, however often the key is pressed.
form.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => delete form.dataset.sent);
