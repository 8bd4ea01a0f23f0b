/** Figures that come after their page (base/partials/later.html): where they don't come, the page says why, and offers another try. */

for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-later]"))) {
  const again = part.querySelector("button");
  const states = /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-state]"));
  const asked = new URL(part.getAttribute("hx-get"), location.href).pathname;
  let wrong = "";

  /** @param {string} state */
  const show = (state) => {
    for (const one of states) one.hidden = one.dataset.state !== state;
    again.parentElement.hidden = state === "waiting";
  };

  part.addEventListener("htmx:beforeRequest", () => {
    wrong = "failed";
    // The button goes. The part has an id, by which htmx hands the focus on to the figures.
    if (document.activeElement === again) part.focus();
    show("waiting");
  });
  part.addEventListener("htmx:beforeSwap", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (new URL(detail.xhr.responseURL).pathname === asked) return;
    // It was led to another page: the one that logs in.
    wrong = "logged-out";
    detail.shouldSwap = false;
    detail.isError = true;
  });
  part.addEventListener("htmx:afterRequest", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.successful) return;
    show(wrong);
    if (document.activeElement === part) again.focus();
  });
}
