/** Keys on the reviewer's queue. Without this module the page is plain links. */

import { byId } from "../base/dom.js";
import { actsByKey, bindKeys } from "../base/keys.js";

const start = document.querySelector("a[data-start]");

for (const hint of document.querySelectorAll("[data-hint]")) hint.hidden = false;
const keys = JSON.parse(byId("page-keys").textContent);
bindKeys({ option: () => undefined, actions: actsByKey(keys, start ? { start: () => start.click() } : {}) });
