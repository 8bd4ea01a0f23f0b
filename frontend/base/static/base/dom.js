/** Elements and sentences of a page. Texts of people only ever go in as text (textContent), inside <bdi>. */

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/** @type {Map<string, string>|null} read when the first one is said */
let sentences = null;

/** A sentence of the page, translated by the server. @param {string} name @param {Record<string, string|number>} [values] */
export function say(name, values = {}) {
  sentences ??= new Map(
    Array.from(byId("texts").content.querySelectorAll("[data-text]"), (item) => [item.dataset.text, item.textContent]),
  );
  return sentences.get(name).replace(/\{(\w+)\}/g, (_, key) => String(values[key]));
}

/**
 * A new element.
 * @param {string} tag
 * @param {{text?: string, children?: (Node|string)[], data?: Record<string, any>, [property: string]: any}} [made]
 *   its words or children, its `data-` attributes, and any of its properties
 * @returns {any}
 */
export function element(tag, { text, children = [], data = {}, ...properties } = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  Object.assign(made.dataset, data);
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** Words that people wrote, which may run from right to left. @param {string} text */
export const bdi = (text) => element("bdi", { text });

/** @param {string} id @param {string} text */
export function setText(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

/** Takes the focus out of what is hidden now: it may stay there until the next frame, where a quick Enter would be lost. */
export function leave(part) {
  if (part.contains(document.activeElement)) document.activeElement.blur();
}
