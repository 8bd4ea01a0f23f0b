/** Fields that apply only to some choices of another field are in sight only then (frontend/base/forms.py, `show_field`). What is out of sight isn't sent; a field with an error is never hidden. Without this module all fields are there. */

for (const form of document.querySelectorAll("form:has([data-shown-when])")) {
  const fields = [...form.querySelectorAll("[data-shown-when]")].map((field) => ({ field, ...JSON.parse(field.dataset.shownWhen) }));
  const reveal = () => fields.forEach((one) => show(form, one));
  form.addEventListener("input", reveal);
  form.addEventListener("change", reveal);
  // Going back, a browser fills the form in after the scripts have run.
  window.addEventListener("pageshow", reveal);
  reveal();
}

/** @param {HTMLFormElement} form @param {{field: HTMLElement, by: string, at?: string[], unless?: string[], needed?: boolean}} one */
function show(form, { field, by, at, unless, needed }) {
  const control = /** @type {any} */ (form.elements.namedItem(by));
  if (!control) return;
  const value = control.type === "number" ? String(Number(control.value)) : control.value;
  const applies = at ? at.includes(value) : !unless.includes(value);
  field.hidden = !applies && !field.querySelector(".errorlist");
  for (const input of field.querySelectorAll("input, select, textarea")) {
    input.disabled = field.hidden;
    if (needed) input.required = applies;
  }
  const optional = field.querySelector(".required");
  if (needed && optional) optional.hidden = applies;
}
