/**
 * The focus goes along with the keys. Who has it in the options, in the list of questions or in a card of the whole form
 * presses a digit and another question is in hand: it goes to the same place of that one. Elsewhere it stays.
 */

import { byId } from "../base/dom.js";

const QUIETLY = { preventScroll: true };

/** Another question is in hand, and drawn. */
export function followFocus() {
  const held = document.activeElement;
  const card = byId("form").querySelector("[aria-current]");
  if (isInDecision(held)) optionIn(byId("options"))?.focus(QUIETLY);
  else if (byId("steps").contains(held)) byId("steps").querySelector("[aria-current]").focus(QUIETLY);
  else if (byId("form").contains(held) && !card.contains(held)) focusCard(card);
}

/** The question stays in hand: to the option that was pressed. @param {unknown} value */
export function focusChoice(value) {
  const held = document.activeElement;
  const group = isInDecision(held) ? byId("options") : held.closest("#form [aria-current]");
  if (group) optionIn(group, JSON.stringify(value))?.focus(QUIETLY);
}

const isInDecision = (held) => [byId("options"), byId("cant-tell")].some((part) => part.contains(held));

function focusCard(card) {
  // Of an answer that is written the field would take the next key for itself.
  card.tabIndex = -1;
  (optionIn(card) ?? card).focus(QUIETLY);
}

/** The option of this value, else the chosen one, else the first. @param {HTMLElement} group @param {string} [value] */
function optionIn(group, value) {
  const options = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("[data-value]")]);
  return options.find((option) => option.dataset.value === value) ?? options.find((option) => option.ariaChecked === "true") ?? options[0];
}
