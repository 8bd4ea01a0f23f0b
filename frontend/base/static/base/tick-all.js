/** A box in a table's head that ticks all boxes of one name. Without this module it stays hidden. */

for (const all of document.querySelectorAll("input[data-tick-all]")) {
  const boxes = [...all.closest("form").querySelectorAll(`input[name="${all.dataset.tickAll}"]`)];
  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    // It follows the boxes while they change.
    const { checked } = all;
    for (const box of boxes) {
      box.checked = checked;
      box.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
