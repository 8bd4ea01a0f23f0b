/** Keys on the adjudication page. Without this module the page is a plain form. */

import { byId } from "../base/dom.js";
import { actsByKey, bindKeys, optionKeys, shortcutsOn } from "../base/keys.js";

const form = document.querySelector("form[data-adjudicate]");
const reason = form.elements.namedItem("reason");
/** One of them is right, or on a multi-select criterion any number, or none: then they are boxes. */
const radios = [...form.querySelectorAll(".options input")];
const keys = optionKeys(radios.map(({ dataset }) => ({ label: dataset.label, hotkey: dataset.hotkey || undefined })));
const help = byId("keys");
const marks = [...document.querySelectorAll("[data-evidence]")];

radios.forEach((radio, i) => {
  const mark = radio.closest("label").querySelector("kbd");
  const shown = shortcutsOn() ? keys[i] : "";
  mark.textContent = shown;
  mark.hidden = !shown;
  if (shown) radio.setAttribute("aria-keyshortcuts", keys[i]);
});
for (const extra of document.querySelectorAll("[data-help], [data-hint]")) extra.hidden = false;

function choose(radio) {
  if (radio.type === "checkbox") return radio.click();
  radio.checked = true;
  reason.focus();
}

form.querySelector(".options")?.addEventListener("change", ({ target }) => {
  if (target.type !== "checkbox" || !target.checked) return;
  for (const other of radios) if ((other.name === "none") !== (target.name === "none")) other.checked = false;
});

function follow(rel) {
  document.querySelector(`a[rel=${rel}]`)?.click();
}

/** On to the evidence after the one that has the focus, round and round. */
function toEvidence() {
  if (!marks.length) return;
  const next = marks[(marks.indexOf(document.activeElement) + 1) % marks.length];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
}

/** Opens or closes what else was said of the sample; opened, it has the focus. */
function toggleRest() {
  const rest = byId("rest");
  if (!rest) return;
  rest.open = !rest.open;
  rest.querySelector(rest.open ? "[tabindex]" : "summary").focus();
}

const sendBack = byId("send-back");
sendBack?.addEventListener("toggle", (event) => {
  if (event.newState === "open") sendBack.querySelector("select").focus();
  // A field that is out of sight would go on taking the keys.
  else if (sendBack.contains(document.activeElement)) document.activeElement.blur();
});

const showHelp = () => help.showModal();
document.querySelector("[data-help]").addEventListener("click", showHelp);

bindKeys({
  asleep: () => Boolean(sendBack?.matches(":popover-open")),
  option: (key) => {
    const at = keys.indexOf(key);
    return at < 0 ? undefined : () => choose(radios[at]);
  },
  actions: { Enter: () => form.requestSubmit(), ...actsByKey(JSON.parse(byId("page-keys").textContent), {
    next_unit: () => follow("next"),
    previous_unit: () => follow("prev"),
    approve: () => byId("approve")?.requestSubmit(),
    comment: () => reason.focus(),
    evidence: toEvidence,
    send_back: () => (sendBack ? sendBack.showPopover() : byId("id_return_annotator")?.focus()),
    rest: toggleRest,
    keys: showHelp,
  }) },
});

for (const area of document.querySelectorAll("textarea")) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") area.blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  });
}

// One decision is sent once, however often the key is pressed.
for (const each of document.querySelectorAll("form[method=post]")) {
  each.addEventListener("submit", (event) => {
    if (each.dataset.sent) event.preventDefault();
    each.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () => delete each.dataset.sent);
}
