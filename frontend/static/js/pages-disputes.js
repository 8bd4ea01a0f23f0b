/** Keys on the reviewer's queue. Without this module the page is plain links. */

import { bindKeys } from "./keys.js";

const start = document.querySelector("a[data-start]");

for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = false;
bindKeys({ option: () => undefined, actions: start ? { s: () => start.click() } : {} });
