/** Images in guidelines, each a link to itself: a click or Enter opens it in full size on the page. */

import { element } from "./dom.js";

/** Called once; images may come later. */
export function bindImageZoom() {
  document.addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest("a.zoom");
    // With a key held the browser does what it does with every link: a new tab, say.
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link);
  });
}

/** @param {HTMLAnchorElement} link */
function show(link) {
  const words = link.querySelector("img").alt;
  const close = element("button", { type: "button", className: "button button-small", text: link.dataset.close });
  const image = element("img", { src: link.href, alt: words });
  // Larger than the window it scrolls, so the keyboard must reach it.
  const frame = element("div", { className: "image-frame", tabIndex: 0, children: [image] });
  const dialog = element("dialog", { className: "dialog image-dialog", ariaLabel: words, children: [close, frame] });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
