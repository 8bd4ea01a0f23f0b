/**
 * The person at the keyboard: what a key means.
 *
 * @typedef {{label: string, hotkey?: string}} KeyedOption
 */

/** Whether keys that are characters do anything (WCAG 2.1.4): the person's own setting, which every page carries. */
export const shortcutsOn = () => document.documentElement.dataset.singleKeys !== "off";

/** @param {boolean} on */
export function switchShortcuts(on) {
  document.documentElement.dataset.singleKeys = on ? "on" : "off";
}

/**
 * One key per option: its own hotkey; else its number where all options are numbers (key 3 gives 3 points, not the third
 * option); else its position, 1–9 and 0 for the tenth.
 * @param {KeyedOption[]} options
 * @returns {string[]} "" for an option without a key
 */
export function optionKeys(options) {
  const numbers = options.map((option) => Number(option.label));
  const graded = options.every((option, i) => option.label.trim() !== "" && Number.isInteger(numbers[i]) && numbers[i] >= 0 && numbers[i] <= 10);
  const taken = new Set(options.map((option) => option.hotkey));
  return options.map((option, i) => {
    // After 9 the next keys of the row are 0 and -; on a scale from 0 the 0 is in use.
    const graded10 = numbers.includes(0) ? "-" : "0";
    const key = graded ? (numbers[i] === 10 ? graded10 : String(numbers[i])) : i < 9 ? String(i + 1) : i === 9 ? "0" : "";
    return option.hotkey ?? (taken.has(key) ? "" : key);
  });
}

/**
 * The digit of the key's place in the row, where the layout has something else there without Shift (French, Czech,
 * Lithuanian …); "" for every other key. AltGr writes what is printed third on a key, and means that.
 * @param {KeyboardEvent} event
 */
function digitByPlace(event) {
  const plain = !event.shiftKey && !event.getModifierState("AltGraph");
  return plain && event.key.length === 1 && /^Digit\d$/.test(event.code) && !/\d/.test(event.key) ? event.code.at(-1) : "";
}

/** The letter, on layouts without Latin ones that of its place. @param {KeyboardEvent} event */
function letter(event) {
  const foreign = event.key.length === 1 && !/^[ -~]$/.test(event.key);
  return foreign && /^Key[A-Z]$/.test(event.code) ? event.code.at(-1).toLowerCase() : "";
}

/**
 * What a key may mean, most likely first. A digit's place comes before what is written there: on a French keyboard the
 * 6 is a "-", which has a meaning of its own. The key after the 0 is "-" where the layout has another character on it.
 * @param {KeyboardEvent} event @returns {string[]}
 */
export function meant(event) {
  if (event.key.length > 1) return [event.key];
  const afterZero = event.code === "Minus" && !event.shiftKey ? "-" : "";
  const meanings = [digitByPlace(event), event.key.toLowerCase(), event.shiftKey ? "" : letter(event), afterZero];
  return [...new Set(meanings.filter(Boolean))];
}

/**
 * What each key does. The keys are the server's (annotate/core/hotkeys.py), which also knows those that a person chose.
 * @param {Record<string, string[]>} keys  action -> its keys @param {Record<string, () => void>} acts  action -> what it does
 * @returns {Record<string, () => void>} by key
 */
export function actsByKey(keys, acts) {
  const known = Object.entries(keys).filter(([action]) => acts[action]);
  return Object.fromEntries(known.flatMap(([action, listed]) => listed.map((key) => [key, acts[action]])));
}

const isInput = (target) => target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
// Like a native radio button or check box: Enter belongs to the form, Space chooses.
const pressesItself = (target) => target.matches("button:not([role=radio], [role=checkbox]), a[href], summary");

/**
 * A click leaves the focus to the page: Enter then means what the page says it means, not the button that was clicked, and
 * no ring is drawn around a column that was clicked into. A click made by a key (detail 0) keeps it.
 * @param {MouseEvent} event
 */
function giveFocusBack(event) {
  const held = document.activeElement;
  if (event.detail && held?.matches("button:not([role=radio]), summary, [data-scrolls], [data-unit-box]")) held.blur();
}

/** Ctrl+Z and its like, where the page has a meaning for them. */
function withControl(event, actions) {
  const act = actions[`ctrl+${event.shiftKey ? "shift+" : ""}${letter(event) || event.key.toLowerCase()}`];
  if (!act) return;
  event.preventDefault();
  act();
}

/**
 * @param {object} wiring
 * @param {(key: string) => (() => void)|undefined} wiring.option  what the key does as an option of the step in hand
 * @param {Record<string, () => void>} wiring.actions  by key
 * @param {() => boolean} [wiring.asleep]  whether keys mean nothing now, because what they act on is not on the page
 */
export function bindKeys({ option, actions, asleep = () => false }) {
  // Before what the click does, which may put the focus somewhere and back.
  document.addEventListener("click", giveFocusBack, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.isComposing || asleep()) return;
    if (document.querySelector("dialog[open]") || isInput(event.target)) return;
    if (event.ctrlKey || event.metaKey) return withControl(event, actions);
    if ((event.key === "Enter" || event.key === " ") && pressesItself(event.target)) return;
    const moves = event.key.startsWith("Arrow") || event.key.startsWith("Page");
    // A key held down must not decide unit after unit.
    if (event.repeat && !moves) return;
    if (event.key.length === 1 && !shortcutsOn()) return;
    for (const key of meant(event)) {
      const act = (event.key.length === 1 && option(key)) || actions[key];
      if (!act) continue;
      event.preventDefault();
      act();
      return;
    }
  });
}
