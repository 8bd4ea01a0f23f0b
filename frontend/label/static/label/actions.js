/**
 * Which key does what. The actions and their usual keys are the server's (annotate/core/hotkeys.py), which also knows the keys
 * that a person chose; keys that are no characters are bound here and always work.
 */

const FIXED = {
  ArrowRight: "next_unit", ArrowLeft: "previous_unit", PageDown: "page_down", PageUp: "page_up", Enter: "submit",
  "ctrl+z": "undo", "ctrl+shift+z": "redo", "ctrl+y": "redo",
};

/** @param {Record<string, string[]>} keys action -> its keys @returns {Record<string, string>} key -> action */
export function actionsByKey(keys) {
  const chosen = Object.entries(keys).flatMap(([action, listed]) => listed.map((key) => [key, action]));
  return { ...FIXED, ...Object.fromEntries(chosen) };
}
