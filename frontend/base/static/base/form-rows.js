/** "Add a row" in a table of form rows (a Django formset). Without this module the blank rows are all there are. */

for (const table of document.querySelectorAll("table[data-rows]")) {
  const prefix = table.dataset.rows;
  const form = table.closest("form");
  const total = form.elements.namedItem(`${prefix}-TOTAL_FORMS`);
  const most = Number(form.elements.namedItem(`${prefix}-MAX_NUM_FORMS`).value);
  const button = form.querySelector("[data-add-row]");
  button.hidden = false;
  button.addEventListener("click", () => {
    const count = Number(total.value);
    if (count >= most) return;
    const last = table.tBodies[0].rows[count - 1];
    const row = last.cloneNode(true);
    for (const list of row.querySelectorAll(".errorlist")) list.remove();
    for (const field of row.querySelectorAll("input, select, label")) {
      for (const name of ["name", "id", "for"]) {
        const value = field.getAttribute(name);
        if (value) field.setAttribute(name, value.replace(`${prefix}-${count - 1}-`, `${prefix}-${count}-`));
      }
      if (field.type === "checkbox") field.checked = false;
      else if (field.tagName === "INPUT") field.value = "";
      else if (field.tagName === "SELECT") field.selectedIndex = 0;
      else field.textContent = field.textContent.replace(/\d+$/, String(count + 1));
    }
    last.after(row);
    total.value = String(count + 1);
    row.querySelector("input, select").focus();
  });
}
